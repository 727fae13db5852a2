(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const { urls, links, titles } = data;
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

  // What pages say of themselves stands in row[11] to row[14]: numbers of titles, the URL that is named as canonical, noindex.
  const titleOf = (row, at) => titles[row[at === 1 ? 12 : 11]] || "";
  const titled = (title, at) => ({ ...link(title, at), cell: (row) => {
    const text = titleOf(row, at);
    return make("div", {}, url(row[at]), text ? make("bdi", { class: "title" }, text) : null);
  } });
  const link = (title, at) => ({ title, key: (row) => urls[row[at]], cell: (row) => url(row[at]), wide: true });
  const number = (title, at, shape = count) => ({
    title, key: (row) => (row[at] === null ? -1 : row[at]), cell: (row) => (row[at] === null ? "–" : shape(row[at])), number: true, down: true,
  });
  const word = (title, key, cell = key) => ({ title, key, cell });

  const tables = {
    duplicates: {
      columns: [
        titled("Copy", 0),
        titled("Original", 1),
        { ...word("Why", why, kind), nowrap: true },
        { ...number("Bits", 3), down: false },
        { ...number("Similarity", 4, similarity), down: false },
        { ...word("Dropped", (row) => data.done[row[5]]), nowrap: true, minor: true },
        { title: "Seen (UTC)", key: (row) => row[6], text: (row) => moment(row[6]), cell: (row) => moment(row[6]), nowrap: true, minor: true, down: true },
        { title: "", cell: (row) => opener(row) },
      ],
      csv: { titles: ["Copy", "Title", "Original", "Title of the original", "Why", "Bits", "Similarity", "Dropped", "Seen (UTC)", "Canonical", "noindex"],
        rows: (row) => [[urls[row[0]], titleOf(row, 0), urls[row[1]], titleOf(row, 1), why(row), row[3] ?? "", row[4] ?? "", data.done[row[5]], moment(row[6]),
          row[13] === null ? "" : urls[row[13]], row[14] ? "yes" : ""]] },
      find: (row) => `${urls[row[0]]}\n${urls[row[1]]}\n${titleOf(row, 0)}\n${titleOf(row, 1)}`,
      choose: { title: "Show", options: [["all", "all"], ["near", "near-duplicates"], ["exact", "exact copies"], ["not_fetched", "not fetched"], ["rejected", "rejected"]],
        test: (row, choice) => choice === "all" || choice === row[9] },
    },
    groups: {
      columns: [word("Copies", (row) => row[0] || "nothing"), word("Originals", (row) => row[1] || "nothing"), number("Pages", 2), number("Exact", 3), number("Near", 4),
        ...(data.tables.groups.some((row) => row[5]) ? [number("Not fetched", 5)] : []),
        ...(data.tables.groups.some((row) => row[7]) ? [{ ...word("Rule", (row) => (row[7] ? row[7].slice(0, 2).join(" in ") : ""), (row) => learned(row[7])), wide: true }] : []),
        { title: "", cell: (row) => make("button", { type: "button", class: "open", on: { click: () => showGroup(row) } }, "Show") }],
      find: (row) => `${row[0]}\n${row[1]}\n${row[7] ? row[7][0] : ""}`,
      csv: { titles: ["Copies", "Originals", "Pages", "Exact", "Near", "Not fetched", "Rule", "In", "Saves", "Tried on", "Confidence"],
        rows: (row) => [[...row.slice(0, 6), ...(row[7] || ["", "", "", "", ""])]] },
    },
    changes: {
      columns: [link("Page", 0), link("Original", 1), word("Would be", (row) => (row[4] === "copy" ? "a copy" : "kept")), number("Bits", 2), { ...number("Similarity", 3, similarity), down: false }],
      find: (row) => `${urls[row[0]]}\n${urls[row[1]]}`,
    },
    clusters: {
      csv: { titles: ["Original", "Copy"], rows: (row) => row[4].map((at) => [urls[row[0]], urls[at]]) },
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

  // A rule that was learned: in words, where it holds, copies among the pages that it was tried on, these, confidence.
  const learned = (rule) => (rule ? make("div", {}, rule[0], make("ul", { class: "more" }, make("li", {}, `in ${rule[1]}`),
    make("li", {}, `${count(rule[2])} of ${count(rule[3])} pages, confidence ${rule[4].toFixed(3)}`))) : "–");

  const FEW = 5;
  const members = (row) => {
    const items = (list) => list.map((at) => make("li", {}, url(at)));
    const list = make("ul", { class: "more" }, ...items(row[4].slice(0, FEW)));
    const rest = row[4].slice(FEW), unnamed = row[1] - 1 - row[4].length;
    const more = unnamed > 0 ? make("li", {}, `and ${count(unnamed)} more: simcrawl clusters lists all`) : null;
    if (!rest.length) {
      if (more) list.append(more);
      return make("div", {}, url(row[0]), list);
    }
    const inner = make("ul", { class: "more" });
    // Made when they are asked for: a page may have thousands.
    const fold = make("details", { class: "rest", on: { toggle: () => inner.childElementCount || inner.append(...items(rest), ...(more ? [more] : [])) } },
      make("summary", {}, `and ${count(row[1] - 1 - FEW)} more`), inner);
    return make("div", {}, url(row[0]), list, fold);
  };

  const opener = (row) => make("button", { type: "button", class: "open", on: { click: () => detail(row) },
    "aria-label": `Details of ${urls[row[0]]}` }, row[7] === null ? "Details" : "Compare");

  // ---- one pair

  const dialog = document.getElementById("detail");
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  const detail = (row) => {
    const shown = (at) => (titleOf(row, at) ? [make("bdi", { class: "title" }, titleOf(row, at))] : []);
    const terms = [["Copy", make("div", {}, url(row[0]), ...shown(0))], ["Original", make("div", {}, url(row[1]), ...shown(1))], ["Why", row[2]], ["Differing bits", row[3] === null ? "–" : String(row[3])],
      ["Similarity", similarity(row[4])], ["Dropped", data.done[row[5]]], ["Seen", `${moment(row[6])} UTC`], ...(row[8] ? [["Rule", row[8]]] : []),
      ...(row[13] === null ? [] : [["Names as canonical", url(row[13])]]), ...(row[14] ? [["Asks of robots", "noindex"]] : []),
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

  // ---- what leaves the report

  // What a terminal or a spreadsheet would obey, or what turns the direction of a text about.
  const NO_TEXT = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
  const plain = (value) => String(value ?? "").replace(NO_TEXT, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const csvCell = (value) => {
    const text = plain(value);
    return `"${(typeof value === "string" && /^[=+\-@]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  };
  const download = (name, rows) => {
    const text = rows.map((row) => row.map(csvCell).join(",")).join("\r\n");
    const place = URL.createObjectURL(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" }));
    const anchor = make("a", { href: place, download: `${name}.csv` });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(place), 10_000);
  };
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const MOST_REJECTED = 500;
  const rejection = (rows) => {
    // What a terminal would obey is not to be pasted into one; what is cut names no page.
    const wanted = rows.filter((row) => row[9] !== "rejected" && urls[row[0]].search(NO_TEXT) < 0 && !urls[row[0]].endsWith("…"));
    const taken = wanted.slice(0, MOST_REJECTED);
    const left = rows.length - taken.length;
    const area = make("textarea", { readonly: true, rows: 8, spellcheck: "false", "aria-label": "Command" });
    area.value = ["simcrawl reject", quoted(data.store), ...taken.map((row) => quoted(urls[row[0]]))].join(taken.length > 1 ? " \\\n  " : " ");
    const done = make("span", { role: "status" });
    const copy = async () => {
      area.select();
      try { await navigator.clipboard.writeText(area.value); } catch { document.execCommand("copy"); }
      done.textContent = " Copied.";
    };
    dialog.replaceChildren(
      make("div", { class: "top" }, make("h2", { id: "detail-title" }, "These are no copies"),
        make("button", { type: "button", class: "close", on: { click: () => dialog.close() } }, "Close")),
      make("p", { class: "note" }, `Run this where the store is, or scrapy simcrawl reject in its project: ${count(taken.length)} verdict${taken.length === 1 ? "" : "s"} will be taken back, and these pairs never merged again.`,
        left ? ` ${count(left)} of the rows shown are left out: taken back already, not safe to paste, or beyond ${count(MOST_REJECTED)}.` : ""),
      area, make("p", {}, make("button", { type: "button", class: "open", autofocus: true, on: { click: copy } }, "Copy"), done));
    dialog.showModal();
  };

  // ---- tables

  const collator = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) => (typeof a === "string" ? collator.compare(a, b) : a - b);

  const build = (holder) => {
    const name = holder.dataset.table, label = holder.dataset.label;
    const { columns, find, choose, csv } = tables[name];
    const rows = data.tables[name];
    const texts = rows.map((row) => find(row).toLowerCase());
    const state = { words: [], choice: choose ? choose.options[0][0] : "", column: null, down: false, page: 0, order: [], test: null };
    let keys = [];

    const update = () => {
      const { words, choice, column, down } = state;
      const order = [];
      for (let at = 0; at < rows.length; at += 1) {
        if ((!state.test || state.test(rows[at])) && (!choose || choose.test(rows[at], choice)) && words.every((part) => texts[at].includes(part))) order.push(at);
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
    const titled = columns.filter((column) => column.key);
    const line = (row) => titled.map((column) => {
      const value = (column.text || column.key)(row);
      return column.number && value === -1 ? "" : value;
    });
    const save = make("button", { type: "button", class: "tool", on: { click: () => download(name, csv
      ? [csv.titles, ...state.order.flatMap((at) => csv.rows(rows[at]))]
      : [titled.map((column) => column.title), ...state.order.map((at) => line(rows[at]))]) } }, "CSV");
    const reject = name === "duplicates" ? make("button", { type: "button", class: "tool", on: { click: () => rejection(state.order.map((at) => rows[at])) } }, "Reject these…") : null;
    // One group of copies, until all are wanted again.
    const clear = make("button", { type: "button", class: "tool", on: { click: () => holder.limit(null) } }, "All groups");
    clear.hidden = true;
    holder.limit = (test) => {
      state.test = test;
      clear.hidden = !test || name !== "duplicates";
      update();
    };
    // A handful of rows is seen at a glance; few columns do not fill the width.
    const short = rows.length <= 8;
    holder.classList.toggle("narrow", columns.length < 7);
    holder.append(make("div", { class: "tools" }, short ? null : search, short ? null : choice, short ? null : sorter, clear, short ? null : found, save, reject),
      make("table", { "aria-label": label }, make("thead", {}, make("tr", {}, ...heads)), body), pager);
    update();
  };
  document.querySelectorAll("[data-table]").forEach(build);

  const showGroup = (row) => {
    const holder = document.querySelector('[data-table="duplicates"]');
    holder.limit((one) => one[10] === row[6]);
    document.getElementById("duplicates").scrollIntoView();
  };

  const slider = document.getElementById("similarity");
  if (slider) {
    const { now, values, kept, copies, shares, moved } = data.thresholds;
    const holder = document.querySelector('[data-table="changes"]');
    const output = document.querySelector('output[for="similarity"]'), then = document.getElementById("then");
    const signed = (number) => (number > 0 ? `+${count(number)}` : number < 0 ? `−${count(-number)}` : "±0");
    const slide = () => {
      const at = Number(slider.value);
      output.textContent = `${values[at]}${at === now ? " (as it was)" : ""}`;
      slider.setAttribute("aria-valuetext", String(values[at]));
      then.textContent = `${count(kept[at])} pages kept (${signed(kept[at] - kept[now])}), ${count(copies[at])} copies: ${share(shares[at])}.`
        + (moved[at] ? ` ${count(moved[at])} copies would have another original.` : "");
      holder.limit((row) => row[5] <= at && at <= row[6]);
    };
    Object.assign(slider, { min: 0, max: values.length - 1, step: 1, value: now });
    slider.addEventListener("input", slide);
    slide();
  }

  const sampled = document.getElementById("sampled");
  if (sampled) {
    const shown = data.tables.duplicates.length;
    sampled.textContent = shown < data.lines
      ? `The ${count(shown)} least certain of ${count(data.lines)}: near-duplicates of little similarity first. All of them: simcrawl duplicates.`
      : "The least certain first: near-duplicates of little similarity, then exact copies.";
  }
})();
