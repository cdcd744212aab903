// Repairs of the theme, for those who do not see the page or do not use a mouse.

{
  // A wide table scrolls; the arrow keys need a focus to scroll it. One is measured when
  // it has been laid out: to ask before makes the browser lay out all of the page.
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
    }
  })
  new MutationObserver(() => {
    // It puts each copy button into a landmark of its own, without a name.
    for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) {
      nav.setAttribute("role", "none")
    }
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
      sizes.observe(box)
    }
  }).observe(document.documentElement, { childList: true, subtree: true })
}

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

// A live figure is a table, until it comes near; then its script is loaded.
{
  const folder = new URL("live/", document.currentScript.src)
  const loaded = new Set()
  const load = (name) => {
    if (loaded.has(name)) return
    loaded.add(name)
    const script = document.createElement("script")
    script.async = false // the kit comes first
    script.src = new URL(`${name}.js`, folder)
    document.head.append(script)
  }
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue
        near.unobserve(target)
        load("kit")
        load(target.dataset.live)
      }
    },
    { rootMargin: "300px" },
  )
  for (const figure of document.querySelectorAll("[data-live]")) near.observe(figure)
}
