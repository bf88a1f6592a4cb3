// Chats that come of others: split, merge, slim, and import, opened in the page.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { groupOf, reload } from '../checks.mjs';
import { same, sameBytes, uuid } from '../expect.mjs';
import { header, lines, looseLines, story } from '../fixtures.mjs';
import { andBack, chatFile, clean, finds, leadsBack, leave, lists, saves, shows, skip } from '../kin.mjs';
import { open, quiet } from '../tab.mjs';
import { until } from '../waits.mjs';
import { formats, upload, user } from './import.mjs';

const split = {
    id: 'make-split',
    title: 'page: split, of a character\u2019s chat and a group\u2019s',
    skip,
    prepare(t) {
        return [t.data.solo('make split', { loose: true }), t.data.group('Make split')];
    },
    async run(t, sources) {
        for (const source of sources) {
            const before = fs.readFileSync(source.file);
            const raw = before.toString().split('\n').slice(1);
            const parts = { 'part 1': [0, 4], 'part 2': [4, 8], 'part 3': [8, source.messages.length], 'last 5': [source.messages.length - 5, source.messages.length] };
            const name = (part) => `${source.chat} ${part}`;
            const list = source.groupFile ? [source.groupFile] : [];
            andBack(t, [...['part 1', 'part 2', 'part 3'].map((part) => chatFile(source, name(part))), ...list], 'split', source.file, '--at', '4,8');
            andBack(t, [chatFile(source, name('last 5')), ...list], 'split', source.file, '--last', '5');
            sameBytes(fs.readFileSync(source.file), before, 'the chat that was split');
            if (source.id) {
                same((await groupOf(t, source)).chats, [source.chat, ...Object.keys(parts).map(name)], 'the group\u2019s chats');
            }
            const slugs = new Set([source.meta.integrity]);
            for (const [part, [from, to]] of Object.entries(parts)) {
                const [first, ...rest] = fs.readFileSync(chatFile(source, name(part)), 'utf8').split('\n');
                sameBytes(rest.join('\n'), raw.slice(from, to).join('\n'), `the messages of ${part}`);
                const { chat_metadata: meta } = JSON.parse(first);
                same(meta, { ...source.meta, main_chat: source.chat, integrity: meta.integrity }, `the metadata of ${part}`);
                slugs.add(meta.integrity);
                await shows(t, source, name(part), source.messages.slice(from, to));
                await saves(t);
                await leadsBack(t, source, name(part), to - from, source.chat);
            }
            assert.equal(slugs.size, 5, 'each part has a slug of its own');
            await leave(t);
            await quiet(source.groupFile ?? source.file);
            // The chat that was split names none of its parts.
            finds(t, Array(4).fill('unlisted-branch'), ...[source.chat, ...Object.keys(parts).map(name)].map((n) => chatFile(source, n)));
        }
    },
};

/** A copy of a character's chats on another machine. */
function elsewhere(t, source, chats) {
    const folder = path.join(t.scratch, 'phone', 'chats', source.character);
    fs.mkdirSync(folder, { recursive: true });
    for (const [name, objects] of Object.entries(chats)) {
        fs.writeFileSync(path.join(folder, `${name}.jsonl`), looseLines(...objects));
    }
    return folder;
}

const merge = {
    id: 'make-merge',
    title: 'page: merge of a folder: chats that are longer, parted, new',
    skip,
    prepare(t) {
        const whole = story(12, { character: 'make merge' });
        const source = t.data.solo('make merge', { messages: whole.slice(0, 8) });
        const parted = story(10, { character: 'make merge' }).map((m, i) => ({ ...m, mes: `${m.mes} ${i}`, ...(m.swipes ? { swipes: [`${m.mes} ${i}`, ...m.swipes.slice(1)] } : {}) }));
        const ours = [...parted.slice(0, 7), { ...parted[7], mes: 'Said here.' }];
        const meta = { ...source.meta, integrity: '99999999-2222-4333-8444-555555555555' };
        fs.writeFileSync(chatFile(source, 'Parted'), lines(header(meta, {}), ...ours));
        const fresh = [header({ ...meta, integrity: '88888888-2222-4333-8444-555555555555' }, {}), ...whole.slice(0, 2).map((m) => ({ ...m, mes: `New: ${m.mes}` }))];
        delete fresh[1].swipes;
        delete fresh[1].swipe_id;
        delete fresh[1].swipe_info;
        const from = elsewhere(t, source, { [source.chat]: [source.header, ...whole], Parted: [header(meta, {}), ...parted], Fresh: fresh });
        return { source, whole, parted, ours, fresh: fresh.slice(1), from };
    },
    async run(t, { source, whole, parted, ours, fresh, from }) {
        const branch = chatFile(source, 'Parted__phone');
        andBack(t, [source.file, chatFile(source, 'Parted'), branch, chatFile(source, 'Fresh')], 'merge', '-y', source.folder, from);
        const theirs = (name) => fs.readFileSync(path.join(from, `${name}.jsonl`), 'utf8');
        sameBytes(fs.readFileSync(chatFile(source, 'Fresh')), theirs('Fresh'), 'the new chat');
        sameBytes(fs.readFileSync(source.file), theirs(source.chat), 'the chat that is longer there');
        const messages = (text) => text.slice(text.indexOf('\n'));
        sameBytes(messages(fs.readFileSync(branch, 'utf8')), messages(theirs('Parted')), 'the messages of the branch');

        await shows(t, source, source.chat, whole);
        await shows(t, source, 'Fresh', fresh);
        const parent = await shows(t, source, 'Parted', ours);
        same(parent.messages[6].extra.branches, ['Parted__phone'], 'the link to the branch');
        await shows(t, source, 'Parted__phone', parted);
        await leadsBack(t, source, 'Parted__phone', parted.length, 'Parted');
        await lists(t, source, { [source.chat]: 12, Fresh: 2, Parted: 8, Parted__phone: 10 });
        await leave(t);
        clean(t, source.folder);
    },
};

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const slim = {
    id: 'make-slim',
    title: 'page: slim, with the picture that becomes a file',
    skip,
    prepare(t) {
        const messages = story(12, { character: 'make slim' });
        messages[2].extra = { ...messages[2].extra, reasoning: 'Which harbour?', inline_image: true, media_display: 'list',
            media: [{ type: 'image', url: `data:image/png;base64,${pixel}`, source: 'upload' }] };
        return t.data.solo('make slim', { messages });
    },
    async run(t, source) {
        andBack(t, [source.file], 'slim', source.file, '--drop', 'swipes,reasoning,images', '--keep-last', '4');
        const want = source.messages.map((m, i) => (m.swipes && i < 8 ? { ...m, swipes: [m.mes], swipe_id: 0 } : m));
        const seen = await shows(t, source, source.chat, want);
        assert.ok(!('reasoning' in seen.messages[2].extra), 'the reasoning is there');
        assert.match(seen.messages[2].extra.media[0].url, /^\/user\/images\/make slim\/[0-9a-f]{16}\.png$/);
        const drawn = async () => t.page.evaluate(() => document.querySelector('.mes[mesid="2"] img.mes_img')?.naturalWidth);
        await until('the picture is drawn', async () => await drawn() === 1);
        await saves(t);
        await leave(t);
        clean(t, source.file);
    },
};

const moved = {
    id: 'make-moved',
    title: 'page: a picture and a file that moved, after repair',
    skip,
    prepare(t) {
        const messages = story(12, { character: 'make moved' });
        const text = 'The harbour is made of amber.';
        messages[2].extra = { ...messages[2].extra, inline_image: true, media_display: 'list',
            media: [{ type: 'image', url: '/user/images/make moved/dusk 50%25 %231.png', source: 'upload' }] };
        const file = { url: '/user/files/1767322000000_7.txt', size: text.length, name: 'harbour.txt', created: 1767322000000 };
        const source = t.data.solo('make moved', { messages, meta: { attachments: [file] } });
        // The picture went to another folder, and so did the file.
        const picture = path.join(t.data.root, 'user', 'images', 'moved away', 'dusk 50% #1.png');
        const moved = path.join(t.data.root, 'user', 'files', 'moved away', '1767322000000_7.txt');
        for (const [at, bytes] of [[picture, Buffer.from(pixel, 'base64')], [moved, text]]) {
            fs.mkdirSync(path.dirname(at), { recursive: true });
            fs.writeFileSync(at, bytes);
        }
        finds(t, ['missing-attachment', 'missing-attachment'], source.file);
        t.stchat({ changes: [source.file], says: [reload] }, 'repair', '-y', '--rule', 'missing-attachment', source.file);
        clean(t, source.file);
        return { source, text };
    },
    async run(t, { source, text }) {
        const seen = await shows(t, source, source.chat, source.messages);
        const drawn = async () => t.page.evaluate(() => document.querySelector('.mes[mesid="2"] img.mes_img')?.naturalWidth);
        await until('the picture is drawn', async () => await drawn() === 1);
        const bank = seen.meta.attachments[0].url;
        same(await t.page.evaluate(async (url) => (await fetch(url)).text(), bank), text, 'the file of the Data Bank');
        await saves(t);
        await leave(t);
        clean(t, source.file);
    },
};

const imported = {
    id: 'make-import',
    title: 'page: imported chats, as SillyTavern\u2019s own import of the same file',
    skip,
    prepare(t) {
        return Object.entries(formats).map(([format, [extension, make]]) => {
            const source = t.data.solo(`page import ${format}`);
            const made = make(source.character);
            const file = path.join(t.scratch, `page-${format}.${extension}`);
            fs.writeFileSync(file, Array.isArray(made) ? made.map((o) => JSON.stringify(o)).join('\n') : JSON.stringify(made));
            return { source, file };
        });
    },
    async run(t, imports) {
        for (const { source, file } of imports) {
            const ours = t.path('import', file, source.folder, '--user', user, '--character', source.character, '--greeting', 'none');
            const { chats } = await upload(t, source, file);
            const theirs = await open(t, source, path.basename(chats[0], '.jsonl'));
            const name = path.basename(ours, '.jsonl');
            await shows(t, source, name, theirs.messages);
            await saves(t);
            await leave(t);
            clean(t, ours);
        }
    },
};

const samples = path.resolve(import.meta.dirname, '..', '..', '..', 'internal', 'ops', 'bring', 'convert', 'testdata');
const known = ['agnai', 'cai', 'chatgpt', 'chub', 'claude', 'deepseek', 'exporter', 'kobold', 'ooba', 'openai', 'risu', 'sharegpt', 'txt'];

const opened = {
    id: 'make-import-all',
    title: 'page: an imported chat of each format, a character\u2019s and a group\u2019s',
    skip,
    prepare(t) {
        return [t.data.solo('import all'), t.data.group('Import all')].map((source) => ({ source, files: known.map((format) => {
            const to = source.groupFile ?? source.folder;
            const call = ['import', path.join(samples, `${format}.in`), to, '--as', format, '--user', user, '-q'];
            const planned = t.stchat(...call, '--dry-run').trim().split('\n');
            t.stchat({ changes: [...planned, ...source.groupFile ? [to] : []] }, ...call);
            clean(t, ...planned);
            return planned[0];
        }) }));
    },
    async run(t, sources) {
        for (const { source, files } of sources) {
            for (const file of files) {
                const messages = fs.readFileSync(file, 'utf8').trim().split('\n').slice(1).map((line) => JSON.parse(line));
                await shows(t, source, path.basename(file, '.jsonl'), messages);
                await saves(t);
            }
            await leave(t);
            await quiet(source.groupFile ?? source.file); // the page saves a group later
        }
    },
};

export const making = [split, merge, slim, moved, imported, opened];
