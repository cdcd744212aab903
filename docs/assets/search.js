// The theme loads what its search needs with each page, and that is more than the page.
// Here it waits until someone searches, or comes from a search.
{
  const wanted = new Promise((resolve) => {
    if (/[?&][hq]=/.test(location.search)) resolve()
    addEventListener("change", ({ target }) => target.id === "__search" && resolve())
    addEventListener("focusin", ({ target }) => target.name === "query" && resolve())
  })

  const { open, send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (/\/search_index\.json$/.test(url)) {
      this.send = () => wanted.then(() => send.call(this))
    }
    open.call(this, method, url, ...rest)
  }

  const { Worker } = window
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.worker = wanted.then(() => {
        const worker = new Worker(url)
        worker.onmessage = ({ data }) =>
          this.dispatchEvent(new MessageEvent("message", { data }))
        return worker
      })
    }
    postMessage(data) {
      this.worker.then((worker) => worker.postMessage(data))
    }
  }
}
