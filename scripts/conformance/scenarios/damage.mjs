// Chats that are hurt: what stchat leaves out, and what it mends, as SillyTavern then reads it.

import assert from 'node:assert/strict';
import fs from 'node:fs';

import { isListed, lives, opensAs, reload, save, written } from '../checks.mjs';
import { same, sameBytes, status } from '../expect.mjs';
import { lines } from '../fixtures.mjs';

/** The chat with a torn line after message 4, perhaps a blank one after message 6, and its last message broken off. */
function hurt(source, { blank }) {
    const rows = [source.header, ...source.messages].map((o) => JSON.stringify(o));
    const last = rows.pop();
    rows.splice(6, 0, rows[5].slice(0, 90));
    if (blank) {
        rows.splice(9, 0, '');
    }
    fs.writeFileSync(source.file, [...rows, last.slice(0, last.length >> 1)].join('\n'));
    return source.messages.slice(0, -1);
}

const skipped = {
    id: 'skip-damaged',
    title: 'checkpoint --skip-damaged of a torn chat',
    prepare(t) {
        const source = t.data.solo('torn', { legacy: t.legacy });
        const survivors = hurt(source, { blank: true });
        t.stchat({ code: 2, says: [/torn.*:7:91: .*--skip-damaged/] }, 'checkpoint', source.file, '-n', 'Not made',
            '--naming', 'sillytavern');
        const file = t.path({ says: [/torn.*:7:91: left out/] }, 'checkpoint', source.file, '--at', '8', '-n', 'Mended',
            '--naming', 'sillytavern', '--skip-damaged');
        return { source, survivors, file };
    },
    async run(t, { source, survivors, file }) {
        // The server numbers what survives in the same way.
        await opensAs(t, source, source.chat, [source.header, ...survivors]);
        await lives(t, source, written(file, {
            header: source.header, messages: survivors.slice(0, 9), mainChat: source.chat,
        }));
    },
};

const repaired = {
    id: 'repair',
    title: 'repair of a torn chat with a BOM',
    prepare(t) {
        const source = t.data.solo('mended', { legacy: t.legacy });
        // A blank line is no damage, and stays.
        const survivors = hurt(source, { blank: false });
        const bytes = fs.readFileSync(source.file);
        fs.writeFileSync(source.file, Buffer.concat([Buffer.from([0xEF, 0xBB, 0xBF]), bytes]));
        t.stchat({ code: 1 }, 'check', source.file);
        const quarantine = `${source.file.slice(0, -'.jsonl'.length)}.damaged`;
        t.stchat({ changes: [source.file, quarantine], says: [reload] }, 'repair', '-y', source.file);
        t.stchat('check', source.file);
        return { source, survivors };
    },
    async run(t, { source, survivors }) {
        const want = [source.header, ...survivors];
        sameBytes(fs.readFileSync(source.file), lines(...want), 'the repaired file');
        await lives(t, source, { name: source.chat, file: source.file, header: source.header, messages: survivors });
    },
};

const unshared = {
    id: 'repair-shared-slug',
    title: 'repair of a slug that branches share',
    prepare(t) {
        const source = t.data.solo('shared slug', { legacy: t.legacy });
        // Before 1.19 a branch inherited its parent's slug.
        const file = t.path('branch', source.file, '--at', '6', '-n', 'Twin', '--naming', 'sillytavern',
            '--set', `integrity=${source.meta.integrity}`);
        const twin = written(file, {
            header: source.header, messages: source.messages.slice(0, 7), mainChat: source.chat,
            slug: source.meta.integrity,
        });
        t.stchat({ changes: [file], says: [reload] },
            'repair', '-y', '--rule', 'integrity-shared', source.file, file);
        return { source, twin };
    },
    async run(t, { source, twin }) {
        await opensAs(t, source, source.chat, [source.header, ...source.messages]);
        const first = JSON.parse(fs.readFileSync(twin.file, 'utf8').split('\n')[0]);
        const slug = first.chat_metadata.integrity;
        assert.notEqual(slug, source.meta.integrity, 'the twin still has its parent\u2019s slug');
        // An open tab that still has the old slug is stopped; one that loads the chat anew is not.
        const stale = await save(t, source, twin.name, [twin.header, ...twin.messages]);
        status(stale, 400, 'saving with the old slug');
        same(stale.body, { error: 'integrity' }, 'saving with the old slug');
        twin.header = { ...twin.header, chat_metadata: { ...twin.header.chat_metadata, integrity: slug } };
        await lives(t, source, twin);
        await isListed(t, source, source.chat, source.messages.length);
    },
};

export const damage = [skipped, repaired, unshared];
