// What the reader writes as a prediction stays in this browser, and is there again when the page is.
for (const field of document.querySelectorAll("textarea[data-keep]")) {
  try {
    field.value = localStorage.getItem(field.dataset.keep) || "";
  } catch { /* a browser that keeps nothing for files */ }
  field.addEventListener("input", () => {
    try {
      localStorage.setItem(field.dataset.keep, field.value);
    } catch { /* as above, or it is full */ }
  });
}
