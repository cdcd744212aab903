// What chapters load, before they are drawn: outputs that wait, and programs without what
// their readers have seen.

// Who wants to predict what a program prints hides each output until asked.
{
  const KEY = "headway.outputs"
  const AFTER = ".language-python.highlight + .language-text.highlight"
  // Where a browser can, its own search looks into what is hidden, and opens it.
  const HIDDEN = "onbeforematch" in document ? "until-found" : ""
  const root = document.documentElement

  // A browser may keep nothing, and say so by an error.
  const kept = () => {
    try {
      return localStorage.getItem(KEY) === "hidden"
    } catch {
      return false
    }
  }
  const keep = (hides) => {
    try {
      if (hides) localStorage.setItem(KEY, "hidden")
      else localStorage.removeItem(KEY)
    } catch {}
  }

  const button = (name, text) => {
    const made = document.createElement("button")
    made.type = "button"
    made.className = name
    made.textContent = text
    return made
  }

  // Before the page is drawn: nothing is seen for a moment.
  root.toggleAttribute("data-hw-hiding", kept())
  const words = new URLSearchParams(location.search).get("h")?.toLowerCase().split(/\s+/)

  addEventListener("DOMContentLoaded", () => {
    const line = document.querySelector(".hw-takeaway")
    const found = document.querySelectorAll(`${AFTER}, ${AFTER} + .language-text.highlight`)
    const outputs = [...found].map((box) => ({ box, pre: box.querySelector("pre") }))
    const all = button("hw-switch", "Hide outputs until I ask")

    const show = ({ pre, asks }, shows) => {
      asks.ariaExpanded = shows
      asks.textContent = `${shows ? "Hide" : "Show"} the output`
      if (shows) pre.removeAttribute("hidden")
      else pre.setAttribute("hidden", HIDDEN)
    }
    // The theme changes the address while one scrolls, so it is not asked afterwards.
    const openTarget = ({ hash }) => {
      const target = document.getElementById(decodeURIComponent(hash.slice(1)))
      const one = target && outputs.find(({ box }) => box.contains(target))
      if (!one?.pre.hidden) return
      show(one, true)
      target.scrollIntoView()
    }

    for (const one of outputs) {
      one.asks = button("hw-show")
      one.asks.addEventListener("click", () => show(one, !!one.pre.hidden))
      one.pre.addEventListener("beforematch", () => show(one, true))
    }
    const hide = (hides) => {
      all.ariaPressed = hides
      for (const one of outputs) {
        show(one, !hides)
        if (hides) one.box.prepend(one.asks)
        else one.asks.remove()
      }
      root.removeAttribute("data-hw-hiding")
    }

    if (!outputs.length) return
    hide(kept())
    line.append(all)
    all.addEventListener("click", () => {
      hide(all.ariaPressed !== "true")
      keep(all.ariaPressed === "true")
    })
    // What a search has found is shown, and so is what a link leads to.
    for (const one of words ? outputs : []) {
      const text = one.pre.textContent.toLowerCase()
      if (words.every((word) => text.includes(word))) show(one, true)
    }
    openTarget(location)
    addEventListener("hashchange", ({ newURL }) => openTarget(new URL(newURL)))
    addEventListener("click", ({ target }) => {
      const link = target.closest?.("a[href*='#']")
      if (link) setTimeout(openTarget, 0, link)
    })
    // Who comes back finds the page as it was left, and the switch may have changed.
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted && kept() !== (all.ariaPressed === "true")) hide(kept())
    })
  })
}

// What a program repeats of those above it is folded into one line, until asked for. It
// is hidden from the eye alone: who listens to a page, or copies from it, has all of it.
{
  document.documentElement.toggleAttribute("data-hw-folding", true)
  addEventListener("DOMContentLoaded", () => {
    for (const lines of document.querySelectorAll(".hw-above")) {
      const box = lines.closest(".highlight")
      const ask = document.createElement("button")
      ask.type = "button"
      ask.className = "hw-unfold"
      ask.textContent = `${lines.textContent.match(/.*\S.*/g).length} lines as above`
      ask.ariaExpanded = false
      ask.addEventListener("click", () => {
        ask.ariaExpanded = box.toggleAttribute("data-hw-open")
      })
      box.prepend(ask)
    }
  })
}
