"""Checks a page of pacc-report: tags are closed in order, nothing comes from
elsewhere, ids are unique, and every link leads to one."""

import sys
from html.parser import HTMLParser

# Tags whose end HTML lets out, and those without content.
OPEN = {"td", "th", "tr", "meta", "circle", "rect", "line"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.look(tag, dict(attrs))
        if tag not in OPEN:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.look(tag, dict(attrs))

    def handle_endtag(self, tag):
        if tag not in OPEN and (not self.stack or self.stack.pop() != tag):
            sys.exit(f"line {self.getpos()}: </{tag}> closes another tag")

    def look(self, tag, attributes):
        if tag in ("script", "link", "img", "iframe") or "src" in attributes:
            sys.exit(f"<{tag}> may load something from elsewhere")
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "href" in attributes:
            self.links.append(attributes["href"])


page = Page()
with open(sys.argv[1], encoding="utf-8") as file:
    page.feed(file.read())
page.close()
if page.stack:
    sys.exit(f"not closed: {page.stack}")
if len(set(page.ids)) != len(page.ids) or not page.ids:
    sys.exit("ids are missing or not unique")
if set(page.links) != {f"#{name}" for name in page.ids}:
    sys.exit(f"links {page.links} do not lead to {page.ids}")
