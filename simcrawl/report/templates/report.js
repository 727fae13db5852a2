(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const { urls, links } = data;
  const PAGE = matchMedia("(max-width: 44rem)").matches ? 10 : 25;

  // Everything from a page becomes text, never markup.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
      else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  const ORIGIN = /^(?:[A-Z]+ )?https?:\/\/[^/]*/i;
  const origins = new Set();
  for (const url of urls) {
    if (origins.size > 1) break;
    origins.add((ORIGIN.exec(url) || [url])[0]);
  }
  document.body.classList.toggle("one-origin", origins.size === 1);

  const url = (number) => {
    const text = urls[number];
    const origin = (ORIGIN.exec(text) || [""])[0];
    const rest = text.slice(origin.length) || "/";
    // Lines break behind slashes first.
    const pieces = rest.split(/(?<=\/)/).flatMap((piece) => [piece, document.createElement("wbr")]);
    const parts = [make("span", { class: "origin" }, origin), ...pieces];
    const shown = links[number] ? make("a", { href: text, rel: "noopener noreferrer" }, ...parts) : make("span", {}, ...parts);
    return make("span", { class: "url" }, shown);
  };
  const count = (number) => number.toLocaleString("en");
  const share = (number) => `${(100 * number).toFixed(1)}%`;
  const moment = (seconds) => new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");
  const similarity = (number) => (number === null ? "–" : number.toFixed(3));
  // What a line counts as stands in row[9]; why in row[2].
  const why = (row) => ({ not_fetched: "not fetched", rejected: "rejected" })[row[9]] || (row[2] === "near-duplicate" ? "near" : row[2]);
  const kind = (row) => make("span", { class: `kind ${row[9]}` }, why(row));

  const link = (title, at) => ({ title, key: (row) => urls[row[at]], cell: (row) => url(row[at]), wide: true });
  const number = (title, at, shape = count) => ({
    title, key: (row) => (row[at] === null ? -1 : row[at]), cell: (row) => (row[at] === null ? "–" : shape(row[at])), number: true, down: true,
  });
  const word = (title, key, cell = key) => ({ title, key, cell });

  const tables = {
    duplicates: {
      columns: [
        link("Copy", 0),
        link("Original", 1),
        { ...word("Why", why, kind), nowrap: true },
        { ...number("Bits", 3), down: false },
        { ...number("Similarity", 4, similarity), down: false },
        { ...word("Dropped", (row) => data.done[row[5]]), nowrap: true, minor: true },
        { title: "Seen (UTC)", key: (row) => row[6], cell: (row) => moment(row[6]), nowrap: true, minor: true, down: true },
        { title: "", cell: (row) => opener(row) },
      ],
      find: (row) => `${urls[row[0]]}\n${urls[row[1]]}`,
      choose: { title: "Show", options: [["all", "all"], ["near", "near-duplicates"], ["exact", "exact copies"], ["not_fetched", "not fetched"], ["rejected", "rejected"]],
        test: (row, choice) => choice === "all" || choice === row[9] },
    },
    clusters: {
      columns: [
        { ...link("Original and copies", 0), cell: (row) => members(row) },
        number("Pages", 1), number("Exact", 2), number("Near", 3), ...(data.tables.clusters.some((row) => row[5]) ? [number("Not fetched", 5)] : []),
      ],
      find: (row) => [row[0], ...row[4]].map((at) => urls[at]).join("\n"),
    },
    places: {
      columns: [word(data.place, (row) => row[0]), number("Pages", 1), number("Kept", 2), number("Exact", 3), number("Near", 4), number("Copies", 5, share)],
      find: (row) => row[0],
    },
    mirrors: {
      columns: [word("One", (row) => row[0]), word("Other", (row) => row[1]), number("Pages", 3), number("Copies", 2), number("Share", 4, share)],
      find: (row) => `${row[0]}\n${row[1]}`,
    },
    rules: {
      columns: [
        { ...word("Rule", (row) => `${row[0]}\n${row[1]}`, (row) => make("div", {}, row[0], make("ul", { class: "more" },
          make("li", {}, `in ${row[1]}`), make("li", {}, url(row[5])), make("li", {}, "= ", url(row[6]))))), wide: true },
        number("Tried on", 3), number("Saves", 2), number("Confidence", 4, similarity),
      ],
      find: (row) => `${row[0]}\n${row[1]}\n${urls[row[5]]}\n${urls[row[6]]}`,
    },
    slowest: { columns: [link("Page", 0), number("Seconds", 1, (seconds) => seconds.toFixed(3))], find: (row) => urls[row[0]] },
  };

  const members = (row) => make("div", {}, url(row[0]), make("ul", { class: "more" },
    ...row[4].map((at) => make("li", {}, url(at))),
    row[1] - 1 > row[4].length ? make("li", {}, `and ${count(row[1] - 1 - row[4].length)} more`) : null));

  const opener = (row) => make("button", { type: "button", class: "open", on: { click: () => detail(row) },
    "aria-label": `Details of ${urls[row[0]]}` }, row[7] === null ? "Details" : "Compare");

  // ---- one pair

  const dialog = document.getElementById("detail");
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  const detail = (row) => {
    const terms = [["Copy", url(row[0])], ["Original", url(row[1])], ["Why", row[2]], ["Differing bits", row[3] === null ? "–" : String(row[3])],
      ["Similarity", similarity(row[4])], ["Dropped", data.done[row[5]]], ["Seen", `${moment(row[6])} UTC`], ...(row[8] ? [["Rule", row[8]]] : []),
      ...(row[9] === "rejected" ? [["Rejected", "A user took this verdict back: the page is no copy."]] : [])];
    dialog.replaceChildren(
      make("div", { class: "top" }, make("h2", { id: "detail-title" }, row[7] === null ? "A duplicate" : "What differs"),
        make("button", { type: "button", class: "close", autofocus: true, on: { click: () => dialog.close() } }, "Close")),
      make("dl", {}, ...terms.flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value)])),
      row[7] === null ? make("p", { class: "note" }, row[9] === "exact" ? "Exact copies have nothing to compare."
        : row[2] === "predicted" ? "This page was not fetched: by its URL it is almost certainly a copy."
        : "The texts of these pages were not kept, or there is no space for them here: set SIMCRAWL_KEEP_TEXT to keep them.") : difference(data.differences[row[7]]));
    dialog.showModal();
  };

  const side = (pieces, tag) => make("td", {}, ...(pieces || []).map(([text, changed]) => (changed ? make(tag, {}, text) : text)));
  const difference = (rows) => {
    const gap = (what) => make("tr", { class: "gap" }, make("td", { colspan: 2 }, what));
    const body = rows.map(({ a, b, skipped, more }) => {
      if (more) return gap("There is more that differs.");
      if (skipped) return gap(`${count(skipped)} equal block${skipped > 1 ? "s" : ""}`);
      return b === undefined ? make("tr", { class: "same" }, side(a, "del"), side(a, "ins")) : make("tr", {}, side(a, "del"), side(b, "ins"));
    });
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Original"), make("th", { scope: "col" }, "Copy")));
    const equal = rows.every(({ b }) => b === undefined);
    return make("div", { class: "diff" }, equal ? make("p", { class: "note" }, "The contents are equal; what stands around them, or links, differ.") : null,
      make("table", {}, head, make("tbody", {}, ...body)));
  };

  // ---- tables

  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) => (typeof a === "string" ? collator.compare(a, b) : a - b);

  const build = (holder) => {
    const name = holder.dataset.table, label = holder.dataset.label;
    const { columns, find, choose } = tables[name];
    const rows = data.tables[name];
    const texts = rows.map((row) => find(row).toLowerCase());
    const state = { words: [], choice: choose ? choose.options[0][0] : "", column: null, down: false, page: 0, order: [] };
    let keys = [];

    const update = () => {
      const { words, choice, column, down } = state;
      const order = [];
      for (let at = 0; at < rows.length; at += 1) {
        if ((!choose || choose.test(rows[at], choice)) && words.every((part) => texts[at].includes(part))) order.push(at);
      }
      if (column !== null) order.sort((a, b) => (down ? compare(keys[b], keys[a]) : compare(keys[a], keys[b])) || a - b);
      state.order = order;
      state.page = 0;
      show();
    };
    const show = () => {
      const { order, page } = state;
      const last = Math.max(0, Math.ceil(order.length / PAGE) - 1);
      const shown = order.slice(page * PAGE, (page + 1) * PAGE).map((at) => make("tr", {}, ...columns.map((column) =>
        make("td", { class: column.number ? "number" : column.nowrap ? "nowrap" : null, "data-label": column.title, "data-minor": Boolean(column.minor) }, column.cell(rows[at])))));
      body.replaceChildren(...(shown.length ? shown : [make("tr", { class: "empty" }, make("td", { colspan: columns.length }, "Nothing found."))]));
      found.textContent = order.length === rows.length ? count(rows.length) : `${count(order.length)} of ${count(rows.length)}`;
      pager.hidden = !last;
      pager.style.display = last ? "" : "none";
      where.textContent = `Page ${count(page + 1)} of ${count(last + 1)}`;
      back.disabled = page === 0;
      forth.disabled = page === last;
    };
    const turn = (by) => { state.page += by; show(); holder.scrollIntoView({ block: "start" }); };
    const sort = (column, down) => {
      state.column = column;
      state.down = down;
      keys = rows.map(columns[column].key);
      heads.forEach((head, at) => {
        if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      update();
    };

    const heads = columns.map((column, at) => make("th", { scope: "col", class: column.number ? "number" : column.wide ? "wide" : null, "data-minor": Boolean(column.minor) },
      column.key ? make("button", { type: "button", on: { click: () => sort(at, state.column === at ? !state.down : Boolean(column.down)) } },
        column.title) : ""));
    const body = make("tbody");
    const found = make("span", { class: "found", role: "status" });
    const where = make("span");
    const back = make("button", { type: "button", on: { click: () => turn(-1) } }, "Previous");
    const forth = make("button", { type: "button", on: { click: () => turn(1) } }, "Next");
    const pager = make("div", { class: "pager" }, back, where, forth);
    const search = make("input", { type: "search", placeholder: "Search", "aria-label": `Search: ${label}`, spellcheck: "false", autocomplete: "off",
      on: { input: (event) => { state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean); update(); } } });
    const choice = choose ? make("label", {}, choose.title, make("select", { on: { change: (event) => { state.choice = event.target.value; update(); } } },
      ...choose.options.map(([value, title]) => make("option", { value }, title)))) : null;
    const sorts = columns.flatMap((column, at) => (column.key ? [make("option", { value: at }, column.title)] : []));
    const sorter = make("label", { class: "phone" }, "Sort by", make("select", { on: { change: (event) => {
      const at = Number(event.target.value);
      sort(at, Boolean(columns[at].down));
    } } }, ...sorts));
    if (name === "duplicates") {
      document.addEventListener("keydown", (event) => {
        if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || dialog.open) return;
        event.preventDefault();
        search.focus();
      });
    }
    // A handful of rows is seen at a glance; few columns do not fill the width.
    const short = rows.length <= 8;
    holder.classList.toggle("narrow", columns.length < 7);
    holder.append(make("div", { class: "tools" }, short ? null : search, short ? null : choice, short ? null : sorter, short ? null : found),
      make("table", { "aria-label": label }, make("thead", {}, make("tr", {}, ...heads)), body), pager);
    update();
  };
  document.querySelectorAll("[data-table]").forEach(build);

  const sampled = document.getElementById("sampled");
  if (sampled) {
    const shown = data.tables.duplicates.length;
    sampled.textContent = shown < data.lines
      ? `The ${count(shown)} least certain of ${count(data.lines)}: near-duplicates of little similarity first. All of them: simcrawl duplicates.`
      : "The least certain first: near-duplicates of little similarity, then exact copies.";
  }
})();
