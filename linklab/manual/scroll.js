// Tables and listings are stops for Tab where they scroll, so that arrow keys move them; elsewhere keys would be lost there.
export function stopWhereItScrolls(element) {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else if (target !== document.activeElement) target.removeAttribute("tabindex");
    }
  });
  for (const one of element.querySelectorAll("table[tabindex], pre[tabindex]")) seen.observe(one);
}

stopWhereItScrolls(document);
