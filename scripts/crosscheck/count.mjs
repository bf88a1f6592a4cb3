// Reads the documents of `stchat inspect --json` from standard input, counts
// each chat anew, and prints where the counts differ.
//
// Lines are read as SillyTavern's getChatData reads them: split at LF, what
// does not parse is dropped. What stchat calls damage is what it drops, what
// is no object, and a byte order mark.
import fs from 'node:fs';
import readline from 'node:readline';
import { isDeepStrictEqual } from 'node:util';

const bytes = x => Buffer.byteLength(x);
const isObject = x => typeof x === 'object' && x !== null && !Array.isArray(x);

// valueBytes gives how long the value of a key is in a line that is
// written as JSON.stringify writes it, and null in any other.
function valueBytes(line, message, key) {
    return JSON.stringify(message) === line && key in message ? bytes(JSON.stringify(message[key])) : key in message ? null : 0;
}

function count(path) {
    const c = {
        messages: 0, user: 0, character: 0, system: 0, hidden: 0, with_swipes: 0, swipes: 0, longest_line: 0,
        first_date: null, last_date: null, checkpoints: [], branches: [], damage: [],
        parts: { text: 0, swipes: 0, swipe_info: 0, extra: 0 },
    };
    let compact = true, first = true;
    fs.readFileSync(path).toString('latin1').split('\n').forEach((raw, n) => {
        let line = Buffer.from(raw, 'latin1').toString('utf8').replace(/\r$/, '');
        const bom = n === 0 && line.startsWith('\ufeff');
        if (bom) line = line.slice(1);
        if (!/[^ \t\r]/.test(line)) return;
        c.longest_line = Math.max(c.longest_line, raw.replace(/\r$/, '').length - (bom ? 3 : 0));
        let m;
        try {
            m = JSON.parse(line);
        } catch {
            m = null;
        }
        if (!isObject(m)) return void c.damage.push(n + 1);
        if (bom) c.damage.push(1);
        if (first) {
            first = false;
            if ('chat_metadata' in m || (('user_name' in m || 'character_name' in m) && !('mes' in m))) {
                if (m.chat_metadata !== undefined && m.chat_metadata !== null && !isObject(m.chat_metadata)) c.damage.push(n + 1);
                return;
            }
        }
        const at = c.messages++;
        const extra = isObject(m.extra) ? m.extra : {};
        if (m.is_system && !extra.type) c.hidden++;
        if (extra.type || extra.isSmallSys || Array.isArray(extra.tool_invocations) || (m.is_system && m.name === 'System')) c.system++;
        else if (m.is_user) c.user++;
        else c.character++;
        if (Array.isArray(m.swipes)) {
            c.swipes += m.swipes.length;
            if (m.swipes.length > 1) c.with_swipes++;
        }
        if (m.send_date) {
            c.first_date ??= m.send_date;
            c.last_date = m.send_date;
        }
        if (extra.bookmark_link && typeof extra.bookmark_link === 'string') c.checkpoints.push([at, extra.bookmark_link]);
        for (const name of Array.isArray(extra.branches) ? extra.branches : []) {
            if (name && typeof name === 'string') c.branches.push([at, name]);
        }
        for (const [part, key] of [['text', 'mes'], ['swipes', 'swipes'], ['swipe_info', 'swipe_info'], ['extra', 'extra']]) {
            const n = valueBytes(line, m, key);
            if (n === null) compact = false;
            else c.parts[part] += n;
        }
    });
    if (!compact) delete c.parts;
    return c;
}

// told is what a document says, in the same form.
function told(doc, like) {
    const links = list => list.map(l => [l.at, l.name]);
    const t = {};
    for (const key of Object.keys(like)) t[key] = doc[key];
    t.checkpoints = links(doc.checkpoints);
    t.branches = links(doc.branches);
    t.damage = doc.damage.map(d => d.line);
    if (like.parts) {
        t.parts = { ...doc.parts };
        delete t.parts.other;
    }
    return t;
}

const iso = date => (/^\d{4}-\d\d-\d\dT/.test(date) && !Number.isNaN(Date.parse(date)) ? new Date(date).toISOString() : date);
let chats = 0, wrong = 0;
for await (const line of readline.createInterface({ input: process.stdin })) {
    const doc = JSON.parse(line);
    const want = count(doc.path);
    const got = told(doc, want);
    for (const key of ['first_date', 'last_date']) {
        // dates of older shapes are told as RFC 3339: Date.parse does not know them
        want[key] = typeof want[key] === 'string' ? iso(want[key]) : want[key];
        if (want[key] !== null && !/^\d{4}-\d\d-\d\dT/.test(want[key])) delete got[key], delete want[key];
    }
    chats++;
    for (const key of Object.keys(want)) {
        if (!isDeepStrictEqual(got[key], want[key])) {
            wrong++;
            console.log(`${doc.path}: ${key}: stchat ${JSON.stringify(got[key])}, node ${JSON.stringify(want[key])}`);
        }
    }
}
console.log(`node: ${chats} chats`);
process.exit(wrong || !chats ? 1 : 0);
