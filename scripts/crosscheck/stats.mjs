// Counts anew what `stchat stats --json --by hour` counts, slowly: node stats.mjs FOLDER < its output.
// `node stats.mjs make FOLDER` makes the folder: plain texts in ten scripts, with branches and
// repeated messages. How marked texts are read is prose.mjs's matter.
import fs from 'node:fs';
import path from 'node:path';

const truthy = (v) => Boolean(v);
const alone = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;
const words = (text) => {
    let n = 0;
    let open = '';
    for (const c of text.normalize('NFKC')) {
        const kind = alone.test(c) ? 'alone' : /\p{Script=Hangul}/u.test(c) ? 'hangul' : /[\p{L}\p{N}]/u.test(c) ? 'letter' : /['’ʼ\u00ad\p{M}]/u.test(c) ? open : '';
        if (kind === 'alone' || kind !== '' && kind !== open) n++;
        open = kind === 'alone' ? '' : kind;
    }
    return n;
};

function make(folder) {
    let state = 9;
    const upTo = (n) => (state = (state * 48271) % 2147483647) % n;
    const vocabulary = 'the boat is late and so am I she says 灯台の光 안녕 하세요 한국 naïve d’être don\'t ﬁne ２０ straße Ελλάδα й й สวัสดี ລາວ ខ្មែរ 1,000 a.b x-y ʼtis עברית'.split(' ');
    let at = Date.UTC(2026, 2, 20, 12);
    for (const owner of ['Mira', '汐']) {
        const into = path.join(folder, 'chats', owner);
        fs.mkdirSync(into, { recursive: true });
        for (let k = 0; k < 30; k++) {
            const lines = ['{"chat_metadata":{}}'];
            for (let i = 5 + upTo(55); i > 0; i--) {
                at += [1, 2, 3, 5, 20, 90][upTo(6)] * 60000;
                const mes = Array.from({ length: 1 + upTo(60) }, () => vocabulary[upTo(vocabulary.length)]).join(' ');
                const m = { name: i % 2 ? 'Ines' : 'Mira', is_user: i % 2 === 1, is_system: upTo(10) === 0, send_date: new Date(at).toISOString(), mes, extra: {} };
                if (upTo(10) === 0) m.extra.type = 'narrator';
                if (upTo(3) === 0) Object.assign(m, { swipes: ['x', mes], extra: { ...m.extra, token_count: 5 } });
                lines.push(JSON.stringify(m));
                if (upTo(10) === 0) lines.push(lines.at(-1));
            }
            fs.writeFileSync(path.join(into, `c${k}.jsonl`), lines.join('\n'));
            const own = JSON.stringify({ name: 'Ines', is_user: true, send_date: new Date(at + 1).toISOString(), mes: 'own words' });
            if (k % 3 === 0) fs.writeFileSync(path.join(into, `b${k}.jsonl`), [...lines.slice(0, lines.length / 2), own].join('\n'));
        }
    }
    fs.mkdirSync(path.join(folder, 'worlds'));
}

if (process.argv[2] === 'make') {
    make(process.argv[3]);
    process.exit(0);
}

const hours = new Map();
const all = { messages: 0, words: 0, user_words: 0, swipes: 0, tokens: 0 };
for (const owner of fs.readdirSync(path.join(process.argv[2], 'chats'))) {
    const seen = new Map();
    const folder = path.join(process.argv[2], 'chats', owner);
    const chats = fs.readdirSync(folder).map((f) => fs.readFileSync(path.join(folder, f), 'utf8').split('\n').map((l) => JSON.parse(l)));
    for (const [, ...messages] of chats) {
        const here = new Map();
        for (const m of messages) {
            const id = JSON.stringify([m.name, m.is_user, m.mes, m.send_date]);
            if (truthy(m.extra?.type) || truthy(m.extra?.isSmallSys)) continue;
            here.set(id, (here.get(id) ?? 0) + 1);
            if (here.get(id) <= (seen.get(id) ?? 0)) continue;
            seen.set(id, here.get(id));
            const n = words(m.mes);
            all.messages++;
            all.words += n;
            if (m.is_user) all.user_words += n;
            all.swipes += Math.max((m.swipes ?? []).length - 1, 0);
            all.tokens += m.extra?.token_count ?? 0;
            const hour = String(new Date(m.send_date).getHours()).padStart(2, '0');
            const row = hours.get(hour) ?? { messages: 0, words: 0 };
            hours.set(hour, { messages: row.messages + 1, words: row.words + n });
        }
    }
}

let wrong = 0;
const check = (what, ours, theirs) => {
    if (ours === theirs) return;
    wrong++;
    console.log(`${what}: stchat ${ours}, node ${theirs}`);
};
let rows = 0;
for (const line of fs.readFileSync(0, 'utf8').trim().split('\n')) {
    const doc = JSON.parse(line);
    if (doc.summary) {
        for (const [key, n] of Object.entries(all)) check(key, doc[key], n);
        continue;
    }
    rows++;
    check(`hour ${doc.key}, messages`, doc.messages, hours.get(doc.key)?.messages);
    check(`hour ${doc.key}, words`, doc.words, hours.get(doc.key)?.words);
}
check('rows', rows, hours.size);
console.log(`stats: ${all.messages} messages, ${wrong} counts differ`);
process.exit(wrong === 0 ? 0 : 1);
