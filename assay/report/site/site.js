// Searches the pages of a site. Titles are in search/*.js, a part for each first digits of an address, which are loaded
// with the first letter that is typed. Pages opened from a disk may not fetch, but may load scripts.
(() => {
  'use strict';
  const box = document.getElementById('search');
  const list = document.getElementById('found');
  const status = document.getElementById('found-count');
  const digits = Number(box.dataset.digits);
  const most = 50;
  const address = /^[a-z]+\/[0-9a-f]+\.html$/;
  const pages = [];
  let loading = null;

  window.assaySearch = (part, entries) => {
    for (const [title, path] of entries) {
      if (address.test(path)) pages.push({ title, path, text: `${title} ${path}`.toLowerCase() });
    }
  };

  function parts() {
    if (digits === 0) return ['all'];
    return Array.from({ length: 16 ** digits }, (_, i) => i.toString(16).padStart(digits, '0'));
  }

  function load(part) {
    return new Promise((done) => {
      const script = document.createElement('script');
      script.src = `search/${part}.js`;
      script.onload = () => done(true);
      script.onerror = () => done(false);
      document.head.append(script);
    });
  }

  async function loadAll() {
    const all = parts();
    let lost = 0;
    for (let i = 0; i < all.length; i += 16) {
      const done = await Promise.all(all.slice(i, i + 16).map(load));
      lost += done.filter((one) => !one).length;
      show();
    }
    if (lost > 0) status.textContent += ` ${lost} parts of the search could not be loaded.`;
  }

  function show() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    if (words.length === 0) {
      status.textContent = '';
      return;
    }
    const found = pages.filter((page) => words.every((word) => page.text.includes(word)));
    found.sort((a, b) => a.title.length - b.title.length || (a.title < b.title ? -1 : 1));
    status.textContent = found.length > most ? `${most} of ${found.length} pages` : `${found.length} pages`;
    for (const page of found.slice(0, most)) {
      const link = document.createElement('a');
      link.href = page.path;
      link.textContent = page.title;
      const item = document.createElement('li');
      item.append(link, ` (${page.path.split('/')[0]})`);
      list.append(item);
    }
  }

  box.addEventListener('input', () => {
    loading = loading ?? loadAll();
    show();
  });
  box.disabled = false;
  status.textContent = '';
  if (location.hash.startsWith('#q=')) {
    box.value = decodeURIComponent(location.hash.slice(3));
    box.dispatchEvent(new Event('input'));
  }
})();
