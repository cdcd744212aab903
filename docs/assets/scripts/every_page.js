// What every page loads: repairs of the theme, for those who do not see the page or do
// not use a mouse, and what looks for live figures.

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
  const folder = new URL("../live/", document.currentScript.src)
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

// On a small screen the theme opens its lists with labels, which no key reaches.
{
  const small = matchMedia("(max-width: 76.2344em)")
  const drawer = document.getElementById("__drawer")
  const list = document.querySelector(".md-sidebar--primary")
  const menu = document.querySelector("header label[for=__drawer]")
  const inner = list.querySelectorAll("label[for^=__nav], label[for=__toc]")
  const labels = [menu, ...inner]
  const adapt = () => {
    for (const label of small.matches ? labels.splice(0) : []) {
      const button = document.createElement("button")
      button.type = "button"
      button.className = "hw-opens"
      button.append(...label.childNodes)
      button.addEventListener("click", () => label.control.click())
      label.append(button)
      label.removeAttribute("tabindex") // one stop for each
    }
    for (const button of document.querySelectorAll(".hw-opens")) {
      button.tabIndex = small.matches ? 0 : -1
      button.ariaExpanded = button.parentElement.control.checked
    }
    menu.firstElementChild.ariaLabel = "Pages"
  }
  adapt()
  small.addEventListener("change", adapt)

  // What is opened takes the focus, and what is closed gives it back. A list that still
  // slides in is not scrolled to: it would stay beside the place where it belongs.
  const enter = (part) =>
    [...part.querySelectorAll("a, button")]
      .find((one) => one.checkVisibility({ visibilityProperty: true }))
      ?.focus({ preventScroll: true })
  addEventListener("change", ({ target }) => {
    if (!small.matches || !(target === drawer || list.contains(target))) return
    adapt()
    const { checked, parentElement: item } = target
    if (target !== drawer) enter(checked ? item.querySelector("nav") : item)
    else if (checked) enter(list)
    else if (list.contains(document.activeElement)) enter(menu)
  })
  addEventListener("focusin", ({ target }) => {
    if (drawer.checked && !list.contains(target) && !menu.contains(target)) drawer.click()
  })
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && small.matches && drawer.checked) drawer.click()
  })
}

// Who goes back on a phone wants to leave the list or the search first, not the page.
if (window.CloseWatcher) {
  let watcher
  addEventListener("change", ({ target }) => {
    if (!target.matches("#__drawer, #__search")) return
    watcher?.destroy()
    if (!target.checked) return
    watcher = new CloseWatcher()
    watcher.onclose = () => target.checked && target.click()
  })
}

// Who leaves the search by Escape goes on where the search was called.
{
  let before
  addEventListener("focusin", ({ target, relatedTarget }) => {
    if (target.name === "query") before = relatedTarget
  })
  addEventListener("keydown", ({ key, target }) => {
    const searching = target.closest?.(".md-search")
    if (key === "Escape" && searching) setTimeout(() => before?.focus())
  })
}
