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
