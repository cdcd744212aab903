// A link to another page of the book shows how its target begins, to those who point at
// it or come to it by key. A page that is read from a file can ask for no other.
if (location.protocol !== "file:") {
  const known = {}
  const box = document.createElement("div")
  box.className = "hw-preview md-typeset"
  box.id = "hw-preview"
  box.role = "tooltip"
  box.hidden = true
  document.querySelector("main").append(box)
  let link, timer

  const parsed = async (address) => {
    const answer = await fetch(address)
    return new DOMParser().parseFromString(await answer.text(), "text/html")
  }

  // A heading goes with a signature and the first sentences below it.
  const beginning = (target) => {
    const parts = [target]
    for (let at = target; /^H/.test(target.tagName) && (at = at.nextElementSibling); ) {
      if (/^H/.test(at.tagName)) break
      if (at.matches(".doc-signature")) parts.push(at)
      const text = at.matches(".doc-contents") ? at.querySelector("p") : at
      if (!text?.matches("p:not(.hw-takeaway, .hw-explained)")) continue
      parts.push(text)
      break
    }
    return parts
  }

  const plain = (part) => {
    const copy = document.createElement("div")
    copy.innerHTML = part.innerHTML
    for (const one of copy.querySelectorAll("*")) {
      if (one.matches(".headerlink, button")) one.remove()
      for (const name of ["id", "href", "tabindex", "title"]) one.removeAttribute(name)
    }
    return copy
  }

  const hide = () => {
    clearTimeout(timer)
    link?.removeAttribute("aria-describedby")
    link = undefined
    box.hidden = true
  }

  const show = async (wanted) => {
    link = wanted
    const [address, id] = wanted.href.split("#")
    const page = await (known[address] ??= parsed(address)).catch(() => {})
    const target = page?.querySelector(id ? `[id="${id}"]` : "article h1")
    if (!target || link !== wanted) return
    box.replaceChildren(...beginning(target).map(plain))
    box.hidden = false
    link.setAttribute("aria-describedby", box.id)
    const { left, top, bottom } = link.getBoundingClientRect()
    const { offsetHeight: height, offsetWidth: width } = box
    const right = document.body.clientWidth - width - 16
    const y = bottom + height < innerHeight ? bottom : top - height
    const base = box.offsetParent.getBoundingClientRect()
    box.style.left = `${Math.max(16, Math.min(left, right)) - base.left}px`
    box.style.top = `${y - base.top}px`
  }

  const come = ({ target, type, pointerType }) => {
    const found = target.closest?.("article a[href]")
    if (box.contains(target) || (found && found === link)) clearTimeout(timer)
    else if (
      found?.origin === location.origin &&
      found.pathname !== location.pathname &&
      /(\/|\.html)$/.test(found.pathname) &&
      pointerType !== "touch" &&
      (type !== "focusin" || found.matches(":focus-visible"))
    ) {
      hide()
      timer = setTimeout(show, 300, found)
    }
  }

  const go = () => {
    clearTimeout(timer)
    timer = setTimeout(hide, 250)
  }

  addEventListener("pointerover", come)
  addEventListener("focusin", come)
  addEventListener("pointerout", go)
  addEventListener("focusout", go)
  addEventListener("keydown", ({ key }) => key === "Escape" && hide())
}
