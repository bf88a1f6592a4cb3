"use strict";
(function () {
const data = JSON.parse(document.getElementById("data").textContent);
const chats = data.chats;
const $ = (id) => document.getElementById(id);
document.body.appendChild($("page").content.cloneNode(true)); // so that no control is dead without this script
const stage = $("stage"), svg = $("lanes"), panel = $("panel"), list = $("list"), rowsBox = $("rows");
const SVG = "http://www.w3.org/2000/svg";

// Text reaches the document through these three only.
function make(tag, className, text) {
	const e = document.createElement(tag);
	if (className) e.className = className;
	if (text !== undefined) e.textContent = text;
	return e;
}
// bdi makes an element whose text comes from a file and has a direction of its own.
function bdi(tag, className, text) {
	const e = make(tag, className);
	e.appendChild(make("bdi", "", text));
	return e;
}
function draw(parent, tag, className, attributes, text) {
	const e = document.createElementNS(SVG, tag);
	if (className) e.setAttribute("class", className);
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
	if (text !== undefined) e.textContent = text;
	parent.appendChild(e);
	return e;
}

const day = new Intl.DateTimeFormat(undefined, {year: "numeric", month: "short", day: "numeric"});
const short = new Intl.DateTimeFormat(undefined, {month: "short", day: "numeric"});
const minute = new Intl.DateTimeFormat(undefined, {year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit"});
const count = (n, one, many) => n.toLocaleString() + " " + (n === 1 ? one : many || one + "s");
function span(c) {
	if (!c.f) return "";
	const from = day.format(c.f), to = day.format(c.t);
	if (from === to) return from;
	return (new Date(c.f).getFullYear() === new Date(c.t).getFullYear() ? short.format(c.f) : from) + " – " + to;
}
const kind = (c) => c.r === "root" || c.r === "checkpoint" || c.r === "copy" ? c.r : "branch";

// What is shown: the chats of one owner, or all, without those of folded families.
let shown = [], rows = 0, widest = 1, headings = [], owner = -1;
let chosen = -1, hits = [], hitSet = null, hitAt = -1;
const folded = new Set(), foldedOwners = new Set(); // numbers of roots, and of owners
const view = {x: 0, y: 0, k: 8, h: 44};
const PAD = 26, AXIS = 30, LEAST = 3, MOST = 72;
let width = 0, height = 0, asked = false, fitted = true;

const sizes = new Map(), owned = new Map(); // chats of a family, by its root, and of an owner
let root = 0;
chats.forEach((c, i) => {
	if (c.h < 0) root = i;
	c.root = root;
	sizes.set(root, (sizes.get(root) || 0) + 1);
	owned.set(c.o, (owned.get(c.o) || 0) + 1);
});

function choose(number) {
	owner = number;
	layOut();
	search();
	fit();
}
// layOut gives every chat that is shown its row: families and owners have a gap between them.
function layOut() {
	shown = [];
	headings = [];
	widest = 1;
	const headed = owner < 0 && data.owners.length > 1;
	let y = headed ? 0 : 0.9, before = -1;
	chats.forEach((c, i) => {
		if (owner >= 0 && c.o !== owner) return;
		const shut = headed && foldedOwners.has(c.o);
		if (c.o === before) {
			if (c.root === i && !shut) y += 0.5;
		} else if (headed) {
			if (before >= 0) y += 0.5;
			headings.push({o: c.o, y, at: shown.length});
			y += shut ? 0.6 : 1.4;
		}
		before = c.o;
		if (shut || folded.has(c.root) && c.root !== i) return;
		c.y = y++;
		shown.push(i);
		widest = Math.max(widest, c.j);
	});
	rows = y;
	$("nothing").hidden = chats.length > 0;
	$("alone").hidden = !data.alone;
	fillList();
}
// fold folds a family or an owner, or unfolds it.
function fold(set, number, on) {
	if (on) set.add(number); else set.delete(number);
	layOut();
	lit();
	redraw();
}

const sx = (x) => x < 0 ? PAD / 2 - view.x * view.k : PAD + (x - view.x) * view.k; // below 0: the fork of a chat that shares no message
const sy = (y) => AXIS + (y - view.y) * view.h;

// fit shows all; where that is too much for the screen, all that stands on its first rows.
function fit() {
	const room = Math.min(260, width * 0.4);
	view.h = Math.max(36, Math.min(58, (height - AXIS - 16) / Math.max(rows, 1)));
	let across = 1;
	for (const i of shown) {
		if (chats[i].y > Math.max(height - AXIS, 0) / view.h) break;
		across = Math.max(across, chats[i].j);
	}
	view.k = Math.max(0.02, Math.min(26, (width - PAD - room) / across));
	view.x = view.y = 0;
	fitted = true;
	redraw();
}
function pan(dx, dy) {
	fitted = false;
	view.x -= dx / view.k;
	view.y -= dy / view.h;
	redraw();
}
function zoom(f, px, py) {
	fitted = false;
	const x = view.x + (px - PAD) / view.k, y = view.y + (py - AXIS) / view.h;
	view.k = Math.max(0.005, Math.min(120, view.k * f));
	view.h = Math.max(LEAST, Math.min(MOST, view.h * f));
	view.x = x - (px - PAD) / view.k;
	view.y = y - (py - AXIS) / view.h;
	redraw();
}
function keepInside() {
	const across = (width - PAD) / view.k, down = (height - AXIS) / view.h;
	view.x = Math.max(-across * 0.5, Math.min(view.x, Math.max(0, widest - across * 0.2)));
	view.y = Math.max(-down * 0.5, Math.min(view.y, Math.max(0, rows - down * 0.4)));
	if (rows <= down && view.y < 0) view.y = 0;
	if (view.x < 0 && view.k * widest < width) view.x = Math.max(view.x, -across * 0.3);
}
function center(i) {
	const c = chats[i];
	view.h = Math.max(view.h, 30);
	const x = sx(c.i), y = sy(c.y), before = view.x + view.y;
	if (x < PAD || x > width * 0.75) view.x = c.i - width * 0.25 / view.k;
	const low = small() && !panel.hidden ? height * 0.2 : height - 50;
	if (y < AXIS + 16 || y > low) view.y = c.y - Math.min(height * 0.35, low) / view.h;
	if (view.x + view.y !== before) fitted = false;
	redraw();
}
function redraw() {
	if (asked) return;
	asked = true;
	requestAnimationFrame(() => { asked = false; paint(); });
}

// first returns the place in shown of the first chat whose row is y or more.
function first(y) {
	let a = 0, b = shown.length;
	while (a < b) {
		const m = (a + b) >> 1;
		if (chats[shown[m]].y < y) a = m + 1; else b = m;
	}
	return a;
}

function paint() {
	keepInside();
	svg.textContent = "";
	if (!chats.length || !width) return;
	const top = view.y, bottom = top + (height - AXIS) / view.h;
	const from = Math.max(0, first(top - 1) - 1), to = Math.min(shown.length, first(bottom + 1) + 1);
	const inSight = shown.includes(chosen) && sy(chats[chosen].y) > 0 && sy(chats[chosen].y) < height;
	axis(chats[inSight ? chosen : shown[Math.min(from, shown.length - 1)] ?? 0]);
	const past = pastLinks(top, bottom, from, to);
	if (past) draw(svg, "path", "past", {d: past});
	const labels = view.h >= 17;
	for (const h of headings) {
		const y = sy(h.y + 0.3);
		if (labels && y > AXIS - 10 && y < height + 20) draw(svg, "text", "head", {x: 12, y: y + 4}, data.owners[h.o].n + (foldedOwners.has(h.o) ? "  " + count(owned.get(h.o), "chat") : ""));
	}
	for (let n = from; n < to; n++) lane(shown[n], labels);
	const cover = draw(svg, "g", "", {});
	draw(cover, "rect", "axis", {x: 0, y: 0, width, height: AXIS});
	while (ticks.length) cover.appendChild(ticks.shift());
	draw(cover, "line", "grid", {x1: 0, x2: width, y1: AXIS, y2: AXIS});
}

// pastLinks draws the lines that only pass by, each pixel once.
function pastLinks(top, bottom, from, to) {
	const seen = new Set();
	let d = "";
	const inView = (n) => n >= from && n < to;
	for (let n = to; n < shown.length; n++) {
		const c = chats[shown[n]];
		if (c.h < 0 || chats[c.h].y > bottom) continue;
		const x = Math.round(sx(c.x));
		const key = x * 100000 + Math.max(chats[c.h].y, top - 1);
		if (x < 0 || x > width || seen.has(key)) continue;
		seen.add(key);
		d += "M" + x + " " + Math.max(sy(chats[c.h].y), -9) + "V" + (height + 9);
	}
	return d;
}

let ticks = [];
function axis(about) {
	const least = 96;
	let step = 1;
	for (const f of [2, 2.5, 2]) if (step * view.k < least) step *= f;
	while (step * view.k < least) step *= 10 / (step.toString()[0] === "1" ? 5 : step.toString()[0] === "2" ? 4 : 5);
	step = Math.max(1, Math.round(step));
	let last = "";
	for (let x = Math.max(0, Math.floor(view.x / step) * step); sx(x) < width; x += step) {
		const at = sx(x);
		if (at < 4 || at > width - 24) continue;
		draw(svg, "line", "grid", {x1: at, x2: at, y1: AXIS, y2: height});
		const date = dateAt(about, x);
		const text = draw(svg, "text", "tick", {x: at, y: 19, "text-anchor": at < 40 ? "start" : "middle"}, "#" + x + (date && date !== last ? "  " + date : ""));
		if (date) last = date;
		ticks.push(text);
	}
}
// dateAt returns when the message at a place was sent, of the chat or of those it comes from.
function dateAt(c, x) {
	while (c.u >= 0 && x < c.i) c = chats[c.u];
	if (!c.k || x > c.j) return "";
	let best = null;
	for (const k of c.k) if (k[0] + c.z <= x) best = k[1];
	return best === null ? "" : short.format(best);
}

function lane(i, labels) {
	const c = chats[i], y = sy(c.y), what = kind(c), computed = c.v === "content" ? " computed" : "";
	const g = draw(svg, "g", (i === chosen ? "chosen " : "") + (hitSet ? hitSet.has(i) ? "found" : "dim" : ""), {});
	const start = c.h < 0 ? sx(0) : sx(c.x);
	let end = sx(c.j);
	if (c.h >= 0) {
		const r = Math.max(0, Math.min(10, view.h * 0.4));
		const above = Math.max(sy(chats[c.h].y), -20);
		end = Math.max(end, start + r + 8);
		if (c.w > 0) {
			draw(g, "path", "link " + what + computed, {d: "M" + start + " " + above + "V" + (y - r) + "Q" + start + " " + y + " " + (start + r) + " " + y});
			draw(g, "path", "lane " + what + computed, {d: "M" + (start + r) + " " + y + "H" + clip(end)});
		} else {
			draw(g, "path", "link " + what + computed, {d: "M" + start + " " + above + "V" + (y - r) + "Q" + start + " " + y + " " + (start + r) + " " + y + "H" + end});
		}
		if (above > -20 && view.h > 9) draw(g, "circle", "fork", {cx: start, cy: above, r: 3.5});
	} else {
		draw(g, "path", "lane " + what, {d: "M" + clip(start) + " " + y + "H" + clip(Math.max(end, start + 6))});
	}
	const size = view.h > 9 ? 1 : 0.6;
	if (end > -20 && end < width + 20) {
		if (c.c) draw(g, "circle", "halo", {cx: end, cy: y, r: 7.5 * size});
		if (what === "checkpoint") {
			const r = 6 * size;
			draw(g, "path", "end checkpoint", {d: "M" + (end - r) + " " + y + "l" + r + " " + -r + "l" + r + " " + r + "l" + -r + " " + r + "z"});
		} else {
			draw(g, "circle", "end " + what, {cx: end, cy: y, r: 4.2 * size});
		}
	}
	if (!labels) return;
	let x = Math.max(c.h < 0 ? start : c.w > 0 ? start + 12 : end + 14, 10);
	let at = y - (view.h < 24 ? 10 : 12);
	if (c.h >= 0 && c.w === 0) at = y + 4.5;
	if (x > width) return;
	const room = Math.max(60, width - x - 12);
	const text = draw(g, "text", "", {x, y: at});
	let left = room;
	const piece = (className, s, gap) => {
		if (!s || left < (className === "text" ? 90 : 40)) return;
		if (gap) left -= 9;
		const fits = fitting(s, className, left);
		if (className === "meta" && fits !== s) return; // no number and no date is cut
		draw(text, "tspan", className, gap ? {dx: 9} : {}, fits);
		left -= breadth(fits, className);
	};
	piece("name", c.g, false);
	if (folded.has(i)) piece("meta", count(sizes.get(i), "chat") + " in this family", true);
	piece("meta", c.h < 0 ? count(c.m, "message") : c.w > 0 ? "+" + c.w.toLocaleString() : "", true);
	if (c.e && view.h >= 24) piece("meta", c.e.join(", "), true);
	if (view.h >= 24) piece("meta", span(c), true);
	if (view.h >= 30 && c.u >= 0 && c.w > 0 && c.l && c.l.length) piece("text", (c.l[0].n ? c.l[0].n + ": " : "") + c.l[0].t, true);
}
// breadth is how wide a text of a lane is drawn.
const pen = document.createElement("canvas").getContext("2d");
const family = getComputedStyle(document.body).fontFamily;
const fonts = new Map([["name", "600 13px "], ["meta", "13px "], ["text", "italic 13px "]]);
function breadth(s, className) {
	pen.font = fonts.get(className) + family;
	return pen.measureText(s).width;
}
// fitting cuts a text to a width.
function fitting(s, className, most) {
	if (s.length <= 400 && breadth(s, className) <= most) return s;
	const all = Array.from(s.slice(0, 400));
	let fits = 0;
	for (let end = all.length; fits < end;) {
		const half = Math.ceil((fits + end) / 2);
		if (breadth(all.slice(0, half).join("").trimEnd() + "…", className) <= most) fits = half;
		else end = half - 1;
	}
	return all.slice(0, Math.max(fits, 1)).join("").trimEnd() + "…";
}
const clip = (x) => Math.max(-50, Math.min(width + 50, x));

// The list: one stop of Tab, and keys move in it.
let buttons = new Map(), lines = []; // by chat; all in their order
function fillList() {
	const at = lines.findIndex((l) => l.button.parentNode.contains(document.activeElement)), was = lines[at];
	rowsBox.textContent = "";
	buttons = new Map();
	lines = [];
	const depth = new Map();
	let next = 0;
	for (let n = 0; n <= shown.length; n++) {
		for (; next < headings.length && headings[next].at === n; next++) heading(headings[next].o);
		if (n < shown.length) row(shown[n], depth);
	}
	if (!lines.length) return;
	const again = was && lines.find((l) => l.set === was.set && l.number === was.number && l.chat === was.chat);
	tabStop(again || lines[0]);
	if (again) again.button.focus();
	$("folds").setAttribute("aria-pressed", String([...sizes].every(([i, n]) => n < 2 || folded.has(i))));
}
// tabStop makes a line of the list the one that Tab reaches.
let stop = null;
function tabStop(line) {
	if (stop) stop.button.tabIndex = -1;
	stop = line;
	line.button.tabIndex = 0;
}
function addLine(className, button, line) {
	const li = make("li", className);
	button.type = "button";
	button.tabIndex = -1;
	button.addEventListener("focus", () => tabStop(line));
	line.button = button;
	lines.push(line);
	li.appendChild(button);
	rowsBox.appendChild(li);
	return li;
}
// heading adds the line of an owner.
function heading(o) {
	const b = bdi("button", "owner", data.owners[o].n), on = foldedOwners.has(o);
	b.appendChild(make("span", "n", count(owned.get(o), "chat")));
	b.setAttribute("aria-expanded", String(!on));
	b.addEventListener("click", () => fold(foldedOwners, o, !foldedOwners.has(o)));
	addLine("head", b, {depth: -1, set: foldedOwners, number: o, chat: -1});
}
// row adds the line of a chat; that of a family begins with a button that folds it.
function row(i, depth) {
	const c = chats[i], d = c.h >= 0 ? depth.get(c.h) + 1 : 0, family = c.root === i && sizes.get(i) > 1;
	depth.set(i, d);
	const b = make("button", "row");
	b.title = c.n;
	if (i === chosen) b.setAttribute("aria-current", "true");
	b.appendChild(make("span", "mark " + kind(c) + (c.c ? " current" : "")));
	b.appendChild(bdi("span", "name", c.g));
	b.appendChild(make("span", "when", " " + span(c)));
	b.appendChild(make("span", "n", " " + (folded.has(i) ? count(sizes.get(i), "chat") : c.u < 0 ? c.m.toLocaleString() : (c.b < 0 ? "–" : "#" + c.b) + (c.w ? " +" + c.w.toLocaleString() : ""))));
	b.appendChild(make("span", "unseen", ", " + c.r + ", " + count(c.m, "message") + (c.c ? ", open in SillyTavern" : "") + (folded.has(i) ? ", folded" : "")));
	b.addEventListener("click", () => open(i, b));
	const li = addLine("d" + Math.min(d, 6), b, {depth: d, set: family ? folded : null, number: i, chat: i});
	buttons.set(i, b);
	const indent = make(family ? "button" : "span", "indent");
	li.insertBefore(indent, b);
	if (!family) return;
	indent.type = "button";
	indent.tabIndex = -1; // the keys ← and → do the same
	indent.setAttribute("aria-expanded", String(!folded.has(i)));
	indent.setAttribute("aria-label", "Family of " + c.g);
	indent.addEventListener("click", () => fold(folded, i, !folded.has(i)));
}
list.addEventListener("keydown", (e) => {
	const at = lines.findIndex((l) => l.button === e.target), line = lines[at];
	if (!line || e.ctrlKey || e.metaKey || e.altKey) return;
	const isFolded = line.set && line.set.has(line.number);
	let to = -1;
	if (e.key === "ArrowDown") to = at + 1;
	else if (e.key === "ArrowUp") to = at - 1;
	else if (e.key === "Home") to = 0;
	else if (e.key === "End") to = lines.length - 1;
	else if (e.key === "ArrowRight" && isFolded) fold(line.set, line.number, false);
	else if (e.key === "ArrowRight") to = line.set || lines[at + 1] && lines[at + 1].depth > line.depth ? at + 1 : -1;
	else if (e.key === "ArrowLeft" && line.set && !isFolded) fold(line.set, line.number, true);
	else if (e.key === "ArrowLeft") to = lines.findLastIndex((l, n) => n < at && l.depth < line.depth);
	else return;
	e.preventDefault();
	if (lines[to]) lines[to].button.focus();
});
$("folds").addEventListener("click", () => {
	const on = $("folds").getAttribute("aria-pressed") !== "true";
	for (const [i, n] of sizes) if (on && n > 1) folded.add(i); else folded.delete(i);
	foldedOwners.clear();
	layOut();
	lit();
	fit();
});
// lit marks what the search found; a folded family or owner stands for its chats.
function lit() {
	hitSet = words.length ? new Set(hits.flatMap(([i]) => folded.has(chats[i].root) ? [i, chats[i].root] : [i])) : null;
	for (const [i, b] of buttons) {
		b.parentNode.classList.toggle("dim", hitSet !== null && !hitSet.has(i));
		b.parentNode.classList.toggle("hit", hitSet !== null && hitSet.has(i));
	}
}

// The panel.
let cameFrom = null;
// open shows a chat, at one of its messages if a number in its texts is given.
function open(i, by, message) {
	const c = chats[i];
	if (owner >= 0 && c.o !== owner) {
		owners.value = "-1";
		choose(-1);
	}
	if (!buttons.has(i)) {
		folded.delete(c.root);
		foldedOwners.delete(c.o);
		layOut();
		lit();
	}
	if (chosen >= 0 && buttons.has(chosen)) buttons.get(chosen).removeAttribute("aria-current");
	chosen = i;
	if (buttons.has(i)) {
		buttons.get(i).setAttribute("aria-current", "true");
		if (!list.hidden) buttons.get(i).scrollIntoView({block: "nearest"});
	}
	if (by) cameFrom = by;
	fillPanel(i, message ?? -1);
	if (small() && !list.hidden) showList(false);
	panel.hidden = false;
	remeasure();
	center(i);
	if (by) panel.querySelector("h2").focus();
	const marked = panel.querySelector(".say.hit");
	if (marked) marked.scrollIntoView({block: "center"});
	write(true);
}
function close() {
	if (panel.hidden) return;
	panel.hidden = true;
	if (buttons.has(chosen)) buttons.get(chosen).removeAttribute("aria-current");
	chosen = -1;
	remeasure();
	if (cameFrom && cameFrom.isConnected && cameFrom.offsetParent) cameFrom.focus(); else stage.focus({preventScroll: true});
	cameFrom = null;
	write(true);
}
function fact(dl, what, text) {
	dl.appendChild(make("dt", "", what));
	dl.appendChild(bdi("dd", "", text));
}
function fillPanel(i, message) {
	const c = chats[i];
	panel.textContent = "";
	panel.scrollTop = 0;
	const top = make("div", "top");
	const title = bdi("h2", "", c.n);
	title.tabIndex = -1;
	top.appendChild(title);
	const x = make("button", "", "×");
	x.type = "button";
	x.setAttribute("aria-label", "Close");
	x.addEventListener("click", close);
	top.appendChild(x);
	panel.appendChild(top);
	panel.appendChild(bdi("p", "path", c.p));
	const chips = make("ul", "chips");
	chips.appendChild(make("li", "is " + kind(c), c.r));
	if (c.c) chips.appendChild(make("li", "", "open in SillyTavern"));
	if (c.v === "content") chips.appendChild(make("li", "", "computed"));
	panel.appendChild(chips);
	const dl = make("dl", "facts");
	fact(dl, "Messages", c.m.toLocaleString() + (c.u >= 0 ? ", " + c.w.toLocaleString() + " of its own" : ""));
	if (c.f) fact(dl, "From", minute.format(c.f));
	if (c.t) fact(dl, "To", minute.format(c.t));
	fact(dl, "Size", size(c.s));
	if (c.u >= 0) fact(dl, "Parts at", c.b < 0 ? "shares no message" : "#" + c.b + " of its parent" + (c.a !== c.b ? " (#" + c.a + " here)" : ""));
	if (c.v) fact(dl, "Known by", via.get(c.v) || c.v);
	if (c.e) fact(dl, "Note", c.e.join(", "));
	panel.appendChild(dl);
	const go = (n, prefix) => {
		const b = make("button", "", prefix);
		b.appendChild(make("bdi", "", chats[n].g));
		b.title = chats[n].n;
		b.type = "button";
		b.addEventListener("click", () => open(n, b));
		return b;
	};
	if (c.u >= 0) {
		panel.appendChild(make("h3", "", "Parent"));
		const box = make("div", "kin");
		box.appendChild(go(c.u, ""));
		panel.appendChild(box);
	}
	const below = children.get(i) || [];
	if (below.length) {
		panel.appendChild(make("h3", "", below.length === 1 ? "Child" : count(below.length, "child", "children")));
		const box = make("div", "kin");
		for (const n of below.slice(0, 200)) box.appendChild(go(n, chats[n].b < 0 ? "" : "#" + chats[n].b + "  "));
		if (below.length > 200) box.appendChild(make("span", "quiet", "and " + (below.length - 200) + " more"));
		panel.appendChild(box);
	}
	talk(c, message);
	branch(c);
}
const via = new Map([["main_chat", "its metadata (main_chat)"], ["link", "a link on the parent's message"], ["uuid", "ChatBranches' uuid"], ["name", "its name"], ["content", "what the messages say"]]);
const children = new Map();
chats.forEach((c, i) => {
	if (c.u < 0) return;
	if (!children.has(c.u)) children.set(c.u, []);
	children.get(c.u).push(i);
});
for (const below of children.values()) below.sort((a, b) => chats[a].b - chats[b].b || a - b);

const most = 200; // messages before and behind a place that the panel shows
function talk(c, message) {
	if (!c.l || !c.l.length) return;
	const own = c.w > 0;
	panel.appendChild(make("h3", "", own && c.u >= 0 ? "Its own messages" : own ? "Messages" : "Its last message"));
	const box = make("div", "talk");
	let before = -1;
	c.l.forEach((m, n) => {
		if (n >= most && n < c.l.length - most && Math.abs(n - message) > most) return;
		if (before >= 0 && m.i > before + 1) box.appendChild(make("div", "gap", "⋮ " + count(m.i - before - 1, "more", "more")));
		before = m.i;
		const say = make("div", "say " + (m.r === "user" || m.r === "system" ? m.r : "character") + (n === message ? " hit" : ""));
		const who = make("div", "who");
		who.appendChild(bdi("b", "", m.n || m.r));
		if (m.s > 1) who.appendChild(make("span", "", "‹ " + (m.k || 1) + "/" + m.s + " ›"));
		who.appendChild(make("span", "", "#" + m.i));
		say.appendChild(who);
		const p = make("p");
		p.dir = "auto";
		if (n === message && words.length) {
			m.t.split(wordsIn()).forEach((part, k) => p.appendChild(k % 2 ? make("mark", "", part) : document.createTextNode(part)));
		} else {
			p.textContent = m.t;
		}
		say.appendChild(p);
		box.appendChild(say);
	});
	panel.appendChild(box);
}
// wordsIn matches each of the words that are searched for.
const wordsIn = () => new RegExp("(" + words.map((w) => w.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&")).join("|") + ")", "iu");
function branch(c) {
	if (c.m === 0) return;
	panel.appendChild(make("h3", "", "Branch from here"));
	const row = make("label", "from", "At message ");
	const at = make("input");
	at.type = "number";
	at.min = "0";
	at.max = String(c.m - 1);
	at.value = String(c.m - 1);
	row.appendChild(at);
	panel.appendChild(row);
	const box = make("div", "command");
	const code = make("code");
	const say = () => { code.textContent = "stchat branch " + (c.q || quote(c.p)) + " --at " + Math.max(0, Math.min(c.m - 1, Math.floor(Number(at.value)) || 0)); };
	say();
	at.addEventListener("input", say);
	box.appendChild(code);
	const b = make("button", "", "Copy");
	b.type = "button";
	b.addEventListener("click", () => copy(code, b));
	box.appendChild(b);
	panel.appendChild(box);
}
function copy(code, button) {
	const picked = () => {
		const range = document.createRange();
		range.selectNodeContents(code);
		const s = getSelection();
		s.removeAllRanges();
		s.addRange(range);
	};
	const done = (text) => {
		button.textContent = text;
		setTimeout(() => { button.textContent = "Copy"; }, 1500);
	};
	picked();
	if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => done("Copied"), () => done("Selected"));
	else done("Selected");
}
const quote = (s) => /^[A-Za-z0-9\/._+,:@%=^-]+$/.test(s) ? s : "'" + s.replaceAll("'", "'\\''") + "'";
function size(n) {
	const units = ["bytes", "kB", "MB", "GB"];
	let u = 0;
	while (n >= 1000 && u < 3) { n /= 1000; u++; }
	return (u ? n.toFixed(1) : n) + " " + units[u];
}

// Search: a hit is a chat by its name, or one of its messages, as [chat, number in its texts or -1].
let hay = null, words = [];
function search() {
	words = $("query").value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
	hits = [];
	hitAt = -1;
	if (words.length) {
		hay = hay || chats.map((c) => [c.n, ...(c.l || []).map((m) => m.i < c.m - c.w && data.whole ? "" : m.n + " " + m.t)].map((s) => s.toLocaleLowerCase()));
		const all = (s) => words.every((w) => s.includes(w));
		chats.forEach((c, i) => {
			if (owner >= 0 && c.o !== owner) return;
			const before = hits.length;
			hay[i].forEach((s, n) => { if (all(s)) hits.push([i, n - 1]); });
			if (hits.length === before && words.length > 1 && words.every((w) => hay[i].some((s) => s.includes(w)))) {
				hits.push([i, hay[i].findLastIndex((s) => words.some((w) => s.includes(w))) - 1]);
			}
		});
	}
	$("count").textContent = !words.length ? "" : hits.length ? String(hits.length) : "none";
	lit();
	redraw();
}
function step(by) {
	if (!hits.length) return;
	hitAt = hitAt < 0 && by < 0 ? hits.length - 1 : (hitAt + by + hits.length) % hits.length;
	$("count").textContent = hitAt + 1 + "/" + hits.length;
	open(hits[hitAt][0], null, hits[hitAt][1]);
}
function find() {
	search();
	write(false);
}

// The address is #OWNER/NAME&q=WORDS: a step adds to what Back goes through, typing does not.
const addresses = new Map();
const addressOf = (c) => encodeURIComponent(data.owners[c.o].n) + "/" + encodeURIComponent(c.n);
chats.forEach((c, i) => { if (!addresses.has(addressOf(c))) addresses.set(addressOf(c), i); });
let reading = false;
function write(step) {
	const q = $("query").value.trim();
	const hash = "#" + (chosen >= 0 ? addressOf(chats[chosen]) : "") + (q ? "&q=" + encodeURIComponent(q) : "");
	if (reading || hash === (location.hash || "#")) return;
	try {
		if (step) history.pushState(null, "", hash); else history.replaceState(null, "", hash);
	} catch (e) {
		if (e.name !== "SecurityError") throw e; // too many at once for this browser
	}
}
// read shows what the address says; what it does not know it ignores.
function read() {
	const [chat, q] = location.hash.slice(1).split("&q=", 2);
	reading = true;
	try {
		$("query").value = decodeURIComponent(q || "");
		search();
		const i = addresses.get(chat.split("/").map((s) => encodeURIComponent(decodeURIComponent(s))).join("/"));
		if (i === undefined) {
			close();
		} else {
			hitAt = hits.findIndex(([n]) => n === i);
			open(i, null, hitAt < 0 ? -1 : hits[hitAt][1]);
			if (hitAt >= 0) $("count").textContent = hitAt + 1 + "/" + hits.length;
		}
	} catch (e) {
		if (!(e instanceof URIError)) throw e; // a % that says nothing
	} finally {
		reading = false;
	}
}
addEventListener("popstate", read);
$("query").placeholder = data.whole ? "Search names and all texts" : "Search names and previews";
$("query").setAttribute("aria-label", $("query").placeholder);
let waiting = 0;
$("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 60); });
$("find").addEventListener("submit", (e) => e.preventDefault());
$("query").addEventListener("keydown", (e) => {
	if (e.key === "Enter") {
		e.preventDefault();
		clearTimeout(waiting);
		if (hitAt < 0) find();
		step(e.shiftKey ? -1 : 1);
	} else if (e.key === "Escape" && $("query").value) {
		e.stopPropagation();
		$("query").value = "";
		find();
	}
});

// Pointers: drag, pinch, click.
const pointers = new Map();
let dragged = 0;
stage.addEventListener("pointerdown", (e) => {
	if (e.button > 0) return;
	pointers.set(e.pointerId, {x: e.offsetX, y: e.offsetY});
	if (pointers.size === 1) dragged = 0;
	stage.setPointerCapture(e.pointerId);
});
function inStage(e) {
	const box = stage.getBoundingClientRect();
	return {x: e.clientX - box.left, y: e.clientY - box.top};
}
stage.addEventListener("pointermove", (e) => {
	const now = inStage(e), was = pointers.get(e.pointerId);
	if (!was) {
		stage.classList.toggle("over", laneAt(now.x, now.y) >= 0);
		return;
	}
	const others = [...pointers].filter(([id]) => id !== e.pointerId);
	if (others.length === 1) {
		const o = others[0][1];
		const before = Math.hypot(was.x - o.x, was.y - o.y), after = Math.hypot(now.x - o.x, now.y - o.y);
		if (before > 8 && after > 8) zoom(after / before, (now.x + o.x) / 2, (now.y + o.y) / 2);
		dragged = 99;
	} else if (others.length === 0) {
		dragged += Math.abs(now.x - was.x) + Math.abs(now.y - was.y);
		if (dragged > 4) {
			stage.classList.add("moving");
			pan(now.x - was.x, now.y - was.y);
		}
	}
	pointers.set(e.pointerId, now);
});
function lift(e) {
	const had = pointers.delete(e.pointerId);
	stage.classList.remove("moving");
	if (!had || e.type !== "pointerup" || dragged > 4 || pointers.size) return;
	const at = inStage(e), i = laneAt(at.x, at.y);
	if (i >= 0) open(i, stage);
}
stage.addEventListener("pointerup", lift);
stage.addEventListener("pointercancel", lift);
function laneAt(x, y) {
	if (y < AXIS) return -1;
	const row = view.y + (y - AXIS) / view.h;
	let best = -1, least = Math.max(0.62, 7 / view.h);
	for (let n = Math.max(0, first(row - least) - 1); n < shown.length; n++) {
		const c = chats[shown[n]];
		if (c.y > row + least) break;
		const off = Math.abs(c.y - 0.15 - row);
		if (off < least && x > (c.h < 0 ? sx(0) : sx(c.x)) - 12) {
			least = off;
			best = shown[n];
		}
	}
	return best;
}
// within returns how far the lanes scroll, which is not beyond the first and the last.
function within(dy) {
	const last = Math.max(0, rows + 0.5 - (height - AXIS) / view.h);
	const to = Math.max(Math.min(view.y, 0), Math.min(Math.max(view.y, last), view.y + dy / view.h));
	return (to - view.y) * view.h;
}
stage.addEventListener("wheel", (e) => {
	e.preventDefault();
	const at = inStage(e), unit = e.deltaMode === 1 ? 18 : e.deltaMode === 2 ? height : 1;
	if (e.ctrlKey) zoom(Math.exp(-Math.max(-60, Math.min(60, e.deltaY * unit)) * 0.01), at.x, at.y);
	else if (e.shiftKey) pan(-(e.deltaX || e.deltaY) * unit, 0);
	else pan(-e.deltaX * unit, -within(e.deltaY * unit));
}, {passive: false});

// Keys and buttons.
const middle = () => [width / 2, AXIS + (height - AXIS) / 2];
stage.addEventListener("keydown", (e) => {
	const moves = new Map([["ArrowLeft", [60, 0]], ["ArrowRight", [-60, 0]], ["ArrowUp", [0, 60]], ["ArrowDown", [0, -60]],
		["PageUp", [0, height * 0.8]], ["PageDown", [0, -height * 0.8]]]);
	const move = moves.get(e.key);
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	if (move) pan(move[0], move[1]);
	else if (e.key === "Home") { pan(view.x * view.k, view.y * view.h); }
	else if (e.key === "Enter" && shown.length) open(chosen >= 0 ? chosen : shown[first(view.y)] ?? shown[0], stage);
	else return;
	e.preventDefault();
});
document.addEventListener("keydown", (e) => {
	const writing = e.target.matches("input, select");
	if (e.key === "Escape") {
		if (!$("legend").hidden) legend(false);
		else close();
		return;
	}
	if (writing || e.ctrlKey || e.metaKey || e.altKey) return;
	if (e.key === "+" || e.key === "=") zoom(1.25, ...middle());
	else if (e.key === "-") zoom(0.8, ...middle());
	else if (e.key === "0") fit();
	else if (e.key === "/") $("query").focus();
	else if (e.key === "?") legend($("legend").hidden);
	else return;
	e.preventDefault();
});
$("in").addEventListener("click", () => zoom(1.25, ...middle()));
$("out").addEventListener("click", () => zoom(0.8, ...middle()));
$("fit").addEventListener("click", fit);
function legend(on) {
	$("legend").hidden = !on;
	$("help").setAttribute("aria-expanded", String(on));
}
$("help").addEventListener("click", () => legend($("legend").hidden));
function showList(on) {
	list.hidden = !on;
	$("listed").setAttribute("aria-pressed", String(on));
	remeasure();
}
$("listed").addEventListener("click", () => showList(list.hidden));
const small = () => innerWidth <= 760;

function measure() {
	width = stage.clientWidth;
	height = stage.clientHeight;
	svg.setAttribute("viewBox", "0 0 " + Math.max(width, 1) + " " + Math.max(height, 1));
}
// remeasure keeps all in sight where it was, and else what is in sight.
function remeasure() {
	measure();
	if (fitted) fit();
	else redraw();
}
new ResizeObserver(remeasure).observe(stage);

const owners = $("owner");
if (data.owners.length > 1) {
	$("ownerbox").hidden = false;
	owners.appendChild(new Option("everyone", "-1"));
	data.owners.forEach((o, i) => {
		const option = new Option(o.n, String(i));
		option.dir = "auto";
		owners.appendChild(option);
	});
	owners.addEventListener("change", () => { close(); choose(Number(owners.value)); });
} else if (data.owners.length === 1) {
	$("heading").textContent = "";
	$("heading").appendChild(make("bdi", "", data.owners[0].n));
}
if (small()) showList(false);
measure();
choose(-1);
read();
})();
