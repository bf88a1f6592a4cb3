// Checkpoints and branches of one character's chats.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { isListed, isNamed, lives, opensAs, reload, save, written } from '../checks.mjs';
import { literally, same, sameBytes, status, swiped, time } from '../expect.mjs';
import { lines } from '../fixtures.mjs';

const styles = {
    suffix: {
        checkpoint: { given: (s) => `${s.chat}__Point`, made: (s) => `${s.chat}__Checkpoint #1` },
        branch: {
            given: (s) => `${s.chat}__Point`,
            made: (s) => new RegExp(`^${literally(s.chat)}__Branch #6 - ${time}$`),
        },
    },
    sillytavern: {
        checkpoint: { given: () => 'Point', made: (s) => `${s.chat} - Checkpoint #1` },
        branch: { given: () => 'Point', made: (s) => `${s.chat} - Branch #1` },
    },
    classic: {
        checkpoint: {
            given: () => new RegExp(`^Point - ${time}$`),
            // The number counts the folder's chats: the source and the one made just before.
            made: () => new RegExp(`^Checkpoint #2 - ${time}$`),
        },
        branch: { given: () => new RegExp(`^Point - ${time}$`), made: () => new RegExp(`^Branch #6 - ${time}$`) },
    },
    version: {
        checkpoint: { given: () => 'Point', made: (s) => `${s.chat}-v2` },
        branch: { given: () => 'Point', made: (s) => `${s.chat}-v2` },
    },
};

/** One chat, a named and an unnamed copy of it, in one naming style. */
function naming(kind, style) {
    const want = styles[style][kind];
    return {
        id: `${kind}-${style}`,
        title: `${kind}, naming ${style}`,
        prepare(t) {
            const source = t.data.solo(`${kind} ${style}`, { legacy: t.legacy });
            const before = fs.readFileSync(source.file);
            const given = t.path(kind, source.file, '--at', '6', '-n', 'Point', '--naming', style);
            const made = t.path(kind, source.file, '--at=-6', '--naming', style);
            sameBytes(fs.readFileSync(source.file), before, 'the source');
            return { source, given, made };
        },
        async run(t, { source, given, made }) {
            isNamed(given, want.given(source));
            isNamed(made, want.made(source));
            for (const file of [given, made]) {
                await lives(t, source, written(file, {
                    header: source.header, messages: source.messages.slice(0, 7), mainChat: source.chat,
                }));
            }
        },
    };
}

const swipe = {
    id: 'branch-swipe',
    title: 'branch --swipe',
    prepare(t) {
        const source = t.data.solo('branch swipe', { legacy: t.legacy });
        return { source, file: t.path('branch', source.file, '--at', '6', '--swipe', '3', '--naming', 'sillytavern') };
    },
    async run(t, { source, file }) {
        const messages = [...source.messages.slice(0, 6), swiped(source.messages[6], 2)];
        await lives(t, source, written(file, { header: source.header, messages, mainChat: source.chat }));
    },
};

const link = {
    id: 'link',
    title: 'checkpoint and branch with --link',
    prepare(t) {
        const source = t.data.solo('linked', { legacy: t.legacy });
        const flags = ['--at', '4', '--naming', 'sillytavern', '--link'];
        const inPlace = { changes: [source.file], says: [reload] };
        const point = t.path(inPlace, 'checkpoint', source.file, '-n', 'Linked point', ...flags);
        const branch = t.path(inPlace, 'branch', source.file, ...flags);
        return { source, point, branch };
    },
    async run(t, { source, point, branch }) {
        const linked = structuredClone(source.messages);
        linked[4].extra.bookmark_link = 'Linked point';
        // The branch is made second, so that its own message 4 has the checkpoint's link.
        await lives(t, source, written(point, {
            header: source.header, messages: source.messages.slice(0, 5), mainChat: source.chat,
        }));
        await lives(t, source, written(branch, {
            header: source.header, messages: linked.slice(0, 5), mainChat: source.chat,
        }));
        linked[4].extra.branches = [`${source.chat} - Branch #1`];
        const loaded = await opensAs(t, source, source.chat, [source.header, ...linked]);
        sameBytes(fs.readFileSync(source.file), lines(...loaded), 'the source with its links');
        status(await save(t, source, source.chat, loaded), 200, 'saving the source again');
        for (const name of [linked[4].extra.bookmark_link, ...linked[4].extra.branches]) {
            await isListed(t, source, name, 5);
        }
    },
};

const typed = {
    'a:b?c*d<e>f|g': 'abcdefg',
    'dots...': 'dots...',
    '\u65e5\u672c \u{1F600}': '\u65e5\u672c \u{1F600}',
    '../climb': '..climb',
};

const names = {
    id: 'names',
    title: 'names that need care',
    prepare(t) {
        const source = t.data.solo('odd names', { legacy: t.legacy });
        const files = Object.entries(typed).map(([name, safe]) =>
            t.path({ says: name === safe ? [] : [/changed: .* \u2192 /] }, 'checkpoint', source.file, '--at', '3', '-n', name,
                '--naming', 'sillytavern'));
        return { source, files };
    },
    async run(t, { source, files }) {
        for (const [i, [name, safe]] of Object.entries(typed).entries()) {
            isNamed(files[i], safe);
            assert.equal(path.dirname(files[i]), source.folder, `${name} left its folder`);
            const chat = written(files[i], {
                header: source.header, messages: source.messages.slice(0, 4), mainChat: source.chat,
            });
            // The page posts the name as it was typed; the server makes it safe by its own rules.
            await opensAs(t, source, name, [chat.header, ...chat.messages]);
            await lives(t, source, chat);
        }
    },
};

const chain = {
    id: 'chain',
    title: 'branch of a branch of a checkpoint',
    prepare(t) {
        const source = t.data.solo('chained', { legacy: t.legacy });
        const files = [source.file];
        for (const [kind, at] of [['checkpoint', 9], ['branch', 7], ['branch', 5]]) {
            files.push(t.path(kind, files.at(-1), '--at', String(at), '--naming', 'sillytavern'));
        }
        return { source, files };
    },
    async run(t, { source, files }) {
        let header = source.header;
        let parent = source.chat;
        for (const [i, at] of [9, 7, 5].entries()) {
            const chat = written(files[i + 1], {
                header, messages: source.messages.slice(0, at + 1), mainChat: parent,
            });
            await lives(t, source, chat);
            ({ header, name: parent } = chat);
        }
        isNamed(files[1], `${source.chat} - Checkpoint #1`);
        isNamed(files[2], `${source.chat} - Checkpoint #1 - Branch #1`);
        isNamed(files[3], `${source.chat} - Checkpoint #1 - Branch #2`);
    },
};

const edited = {
    id: 'metadata',
    title: 'metadata set, unset and merged',
    prepare(t) {
        const source = t.data.solo('edited', { legacy: t.legacy });
        const merge = path.join(t.scratch, 'merge.json');
        fs.writeFileSync(merge, '{\n  "note_prompt": "from a file",\n  "fresh": [1, {"a.b": null}]\n}\n');
        const file = t.path('checkpoint', source.file, '--at', '4', '-n', 'Edited', '--naming', 'sillytavern',
            '--merge', merge, '--set', 'note_depth=7', '--set', 'dotted.new=plain text', '--set', 'number=12', '--set', 'digits="12"', '--set', 'scenario=1984',
            '--unset', 'dotted.key', '--unset', 'tainted', '--unset', 'integrity');
        return { source, file };
    },
    async run(t, { source, file }) {
        const meta = { ...source.meta, note_prompt: 'from a file', fresh: [1, { 'a.b': null }], note_depth: 7 };
        Object.assign(meta, { 'dotted.new': 'plain text', number: 12, digits: '12', scenario: '1984' });
        for (const key of ['dotted.key', 'tainted', 'integrity']) {
            delete meta[key];
        }
        const chat = written(file, {
            header: source.header, meta, messages: source.messages.slice(0, 5), mainChat: source.chat, slug: null,
        });
        await lives(t, source, chat);
        // The page gives a chat without a slug one of its own, and then saves with it.
        chat.header = { ...chat.header, chat_metadata: { ...chat.header.chat_metadata, integrity: source.meta.integrity } };
        status(await save(t, source, chat.name, [chat.header, ...chat.messages]), 200, 'the first save with a slug');
        await lives(t, source, chat);
    },
};

/**
 * Lines no JSON.stringify would write, in a file no SillyTavern would: the server's own reading of the source is what
 * the copy is compared with.
 */
const odd = {
    id: 'odd-bytes',
    title: 'odd bytes mean the same to the server',
    prepare(t) {
        const source = t.data.solo('odd bytes', { legacy: t.legacy });
        const message = (body) => `{"name":"odd","is_user":false,"send_date":"2026-01-02T03:04:05.000Z","mes":${body}}`;
        const rows = [
            JSON.stringify(source.header).replace('"note_depth":4', '"note_depth": 4.0, "note_depth":4e0'),
            message('"twice","mes":"the last one counts"'),
            ' \t',
            `  ${message('"white space around"')}\t`,
            message(String.raw`"\u0041\/\ud83d lone \ud83d\ude00 pair \u0000"`),
            '',
            message('"numbers","n":[1.0,-0,1e400,9007199254740993,1E-7]'),
            message('"deep","d":[[[[[[[[[[{"__proto__":{"a":1}}]]]]]]]]]]'),
            message('"separators \u2028 \u2029 and \u0085"'),
            message('"after the end"'),
        ].map((row) => Buffer.from(row));
        rows[3] = Buffer.concat([rows[3].subarray(0, -4), Buffer.from([0x20, 0xFF, 0xC3]), rows[3].subarray(-4)]);
        fs.writeFileSync(source.file, Buffer.concat(rows.flatMap((row) => [row, Buffer.from('\r\n')])));
        const file = t.path({ says: [/not valid UTF-8 in 1 message, first in message 1/] }, 'checkpoint', source.file,
            '--at', '5', '-n', 'Odd', '--naming', 'sillytavern');
        return { source, file };
    },
    async run(t, { source, file }) {
        const get = async (name) => (await t.server.post('/api/chats/get', {
            ch_name: source.character, file_name: name, avatar_url: source.avatar,
        })).body;
        const [first, ...messages] = await get(source.chat);
        assert.equal(messages.length, 7, `the server reads ${messages.length} messages in the source`);
        const copy = await opensAs(t, source, path.basename(file, '.jsonl'), [
            {
                ...first,
                chat_metadata: {
                    ...first.chat_metadata, main_chat: source.chat,
                    integrity: (await get('Odd'))[0].chat_metadata.integrity,
                },
            },
            ...messages.slice(0, 6),
        ]);
        status(await save(t, source, 'Odd', copy), 200, 'saving it again');
    },
};

const agreed = {
    id: 'inspect',
    title: 'inspect and check agree with the server',
    prepare(t) {
        return { source: t.data.solo('inspected', { legacy: t.legacy, count: 9 }) };
    },
    async run(t, { source }) {
        // What SillyTavern itself wrote has nothing that check calls an error.
        status(await save(t, source, source.chat, [source.header, ...source.messages]), 200, 'saving');
        t.stchat('check', source.file);
        const card = JSON.parse(t.stchat('inspect', '--json', source.file));
        await isListed(t, source, source.chat, card.messages);
        assert.equal(card.header, t.legacy ? 'legacy' : 'modern', `inspect calls the header ${card.header}`);
        assert.equal(card.integrity, source.meta.integrity, 'inspect reads another integrity');
    },
};

const listed = {
    id: 'list',
    title: 'list tells what the server lists',
    prepare(t) {
        const source = t.data.solo('listed', { legacy: t.legacy });
        t.path('branch', source.file, '4', 'Side', '-q');
        t.path('copy', source.file, 'Apart', '-q');
        return source;
    },
    async run(t, source) {
        const rows = t.stchat('list', source.folder).trim().split('\n').map((line) => line.split('\t'));
        const server = await t.server.post('/api/chats/search', { query: '', avatar_url: source.avatar });
        status(server, 200, 'chats/search');
        const theirs = new Map(server.body.map((c) => [c.file_name.replace(/\.jsonl$/, ''), c]));
        same(rows.map(([, , name]) => name).sort(), [...theirs.keys()].sort(), 'the names');
        const time = (text) => Date.parse(String(text).replace(/(\d)(am|pm)$/, '$1 $2'));
        for (const [file, owner, name, count, bytes, date] of rows) {
            assert.equal(owner, source.character, `the owner of ${name}`);
            assert.equal(Number(count), theirs.get(name).message_count, `messages of ${name}`);
            assert.equal(Number(bytes), fs.statSync(file).size, `bytes of ${name}`);
            assert.equal(time(date), time(theirs.get(name).last_mes), `the last message of ${name}`);
        }
        const dates = rows.map((row) => time(row[5]));
        same(dates, dates.toSorted((a, b) => b - a), 'the newest come first');
        const sorted = t.stchat('list', source.folder, '--sort', 'messages', '--limit', '2').trim().split('\n').map((line) => line.split('\t')[3]);
        same(sorted, ['12', '12'], 'the largest come first');
        const open = t.stchat('list', source.folder, '--json').trim().split('\n').map((line) => JSON.parse(line)).filter((doc) => doc.current);
        const card = await t.server.post('/api/characters/get', { avatar_url: source.avatar });
        same(open.map((doc) => doc.name), [card.body.chat], 'the chat that is open');
        same(t.stchat('list', source.folder, '--where', 'main_chat').trim().split('\t')[2], `${source.chat}__Side`, 'the chat with a parent');
    },
};

export const solo = [
    ...['checkpoint', 'branch'].flatMap((kind) => Object.keys(styles).map((style) => naming(kind, style))),
    swipe, link, chain, names, edited, odd, agreed, listed,
];
