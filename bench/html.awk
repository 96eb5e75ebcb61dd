# SPDX-License-Identifier: GPL-2.0
# What the pages of the reports share: words for HTML, numbers, the head with its style.
# usage: awk -f html.awk -f PAGE ...

function escape(text)
{
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	return text
}

function file_name(name)
{
	gsub(/[^A-Za-z0-9._-]/, "_", name)
	return name
}

# A digit less with each power of ten.
function short(x)
{
	x += 0
	return sprintf(x < 10 ? "%.2f" : x < 1000 ? "%.1f" : "%.0f", x)
}

function head(title)
{
	print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
	print "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	print "<title>" escape(title) "</title>\n<style>"
	print "body { font: 15px/1.5 'DejaVu Sans', sans-serif; color: #222; max-width: 1060px; margin: 2em auto; padding: 0 1em }"
	print "h1 { font-size: 1.7em } h2 { margin-top: 2em; border-bottom: 1px solid #ccc }"
	print "table { border-collapse: collapse; font-size: 13px; margin: 1em 0 }"
	print "th, td { padding: 2px 8px; text-align: right; border-bottom: 1px solid #eee; white-space: nowrap }"
	print "th:first-child, td:first-child { text-align: left }"
	print "td.text { text-align: left; white-space: normal }"
	print "th { border-bottom: 1px solid #999 } td.best { background: #c7e9c0; font-weight: bold }"
	print "td.worse { background: #fde0dd } tr.limit td { color: #888; font-style: italic }"
	print "img { max-width: 100%; height: auto } p.note { color: #555 } .wide { overflow-x: auto }"
	print "</style>\n</head>\n<body>"
}
