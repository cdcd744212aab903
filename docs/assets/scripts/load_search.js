// The theme loads what its search needs with each page, and that is more than the page.
// Here it waits until someone searches, or comes from a search.
{
  const wanted = new Promise((resolve) => {
    if (/[?&][hq]=/.test(location.search)) resolve()
    addEventListener("change", ({ target }) => target.id === "__search" && resolve())
    addEventListener("focusin", ({ target }) => target.name === "query" && resolve())
  })

  // The theme listens to keys. What is pasted, dictated or picked from a list comes
  // without one.
  addEventListener("input", ({ target }) => {
    if (target.name === "query") target.dispatchEvent(new Event("keyup"))
  })

  const { open, send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (/\/search_index\.json$/.test(url)) {
      this.send = () => wanted.then(() => send.call(this))
    }
    open.call(this, method, url, ...rest)
  }

  // Of a question without an answer each word may be misspelt: another letter is allowed.
  const QUERY = 2
  const RESULT = 3
  const near = (query) => query.replace(/(?<!\S)\w{4,}(?!\S)/g, "$&~1")

  const { Worker } = window
  window.Worker = class extends EventTarget {
    asked = []
    constructor(url) {
      super()
      this.worker = wanted.then(() => {
        const worker = new Worker(url)
        worker.onmessage = ({ data }) => {
          const query = data.type === RESULT && this.asked.shift()
          if (query && !data.data.items.length && near(query) !== query) {
            this.postMessage({ type: QUERY, data: near(query) })
          } else this.dispatchEvent(new MessageEvent("message", { data }))
        }
        return worker
      })
    }
    postMessage(data) {
      if (data.type === QUERY) this.asked.push(data.data)
      this.worker.then((worker) => worker.postMessage(data))
    }
  }
}
