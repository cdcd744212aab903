// Repairs of the theme, for those who do not see the page or do not use a mouse.

new MutationObserver(() => {
  // It puts each copy button into a landmark of its own, without a name.
  for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) {
    nav.setAttribute("role", "none")
  }
  // A wide table scrolls; the arrow keys need a focus to scroll it.
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
  }
}).observe(document.documentElement, { childList: true, subtree: true })

// It turns pages on single letters, which speech input types by accident.
addEventListener(
  "keydown",
  (event) => {
    const typing = event.target.closest?.("input, textarea, select")
    const plain = !(event.ctrlKey || event.metaKey || event.altKey)
    if (plain && !typing && /^[fnps,.]$/.test(event.key)) {
      event.stopImmediatePropagation()
    }
  },
  true,
)
