"""What a page in a browser must look like, whatever is on it: text that can be read, and nothing beside the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

AA, AA_LARGE = 4.5, 3.0
"""Contrast that WCAG 2 asks for at its level AA, of text and of large text."""

_PALE_TEXT = """([least, leastLarge]) => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)));
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = channels(getComputedStyle(element).backgroundColor);
    return (own[3] ?? 1) === 1 ? own : over(own, behind(element.parentElement));
  };
  const pale = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.textContent.trim().slice(0, 60);
    if (!text || element.closest("script, style, svg, :disabled, .off, .aside")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element), back = behind(element);
    const [a, b] = [light(over(channels(style.color), back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? leastLarge : least)) pale.add(`${ratio.toFixed(2)}: ${text}`);
  }
  return [...pale];
}"""


def pale_texts(page: Page) -> list[str]:
    """The texts on the page whose contrast is below AA, with their contrast."""
    found: list[str] = page.evaluate(_PALE_TEXT, [AA, AA_LARGE])
    return found


_BESIDE = """() => {
  const found = [];
  for (const element of document.querySelectorAll("main :is(a, button, summary, input, select, textarea, th, td)")) {
    if (element.closest("table.data, .uplot, .aside, .stack thead") || !element.checkVisibility()) continue;
    const box = element.getBoundingClientRect();
    const text = element.textContent.trim().slice(0, 40);
    if (box.width > 1 && box.right > innerWidth + 1) found.push(`${element.tagName} ${text}`);
  }
  return found;
}"""


def beside_the_window(page: Page) -> list[str]:
    """What is to be read or pressed, and is seen only by scrolling sideways; the user's own table may be wide."""
    found: list[str] = page.evaluate(_BESIDE)
    return found


def is_wider_than_the_window(page: Page) -> bool:
    """Whether the page as a whole has to be scrolled sideways."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"))
