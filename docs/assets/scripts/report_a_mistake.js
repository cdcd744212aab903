// A report of a mistake names the section that one reads.
document.querySelector("[data-report]")?.addEventListener("click", ({ target }) => {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const address = new URL(target.href)
  if (at) address.searchParams.set("heading", at.firstChild.textContent)
  target.href = address
})
