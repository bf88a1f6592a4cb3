// What SillyTavern writes for the same operation: its page's request, sent to its server, against stchat's file.

import fs from 'node:fs';
import path from 'node:path';

import { save } from '../checks.mjs';
import { sameBytes, status, swiped } from '../expect.mjs';

const slug = 'abcdefab-1234-4abc-8def-0123456789ab';

/** The header that the page of this version posts (saveChat in public/script.js, saveGroupBookmarkChat). */
function posted(t, loaded, meta) {
    return t.legacy
        ? { user_name: 'User', character_name: loaded.character_name, create_date: loaded.create_date, chat_metadata: meta }
        : { chat_metadata: meta, user_name: 'unused', character_name: 'unused' };
}

/** {...chat_metadata, ...withMetadata}: from 1.19 on a new slug is part of it, before that it is inherited. */
function merged(t, meta, mainChat) {
    return { ...meta, main_chat: mainChat, ...(t.atLeast('1.19.0') ? { integrity: slug } : {}) };
}

/** Before 1.19 the copy has the source's slug. */
const slugFlags = (t, source) => ['--set', `integrity=${t.atLeast('1.19.0') ? slug : source.meta.integrity}`];

const replayed = {
    id: 'replay-solo',
    title: 'same bytes as the page\u2019s request, solo',
    prepare(t) {
        return { source: t.data.solo('replayed', { legacy: t.legacy }) };
    },
    async run(t, { source }) {
        const loaded = (await t.server.post('/api/chats/get', {
            ch_name: source.character, file_name: source.chat, avatar_url: source.avatar,
        })).body;
        const [first, ...messages] = loaded;
        const meta = merged(t, first.chat_metadata, source.chat);
        const tries = [
            { kind: 'checkpoint', at: 4, last: messages[4], flags: [] },
            { kind: 'branch', at: 11, last: messages[11], flags: [] },
            // The page can branch from a swipe since 1.17; the file is the same in every version.
            { kind: 'branch', at: 6, last: swiped(messages[6], 1), flags: ['--swipe', '2'] },
        ];
        for (const { kind, at, last, flags } of tries) {
            const name = `Posted ${at}`;
            const answer = await save(t, source, name, [posted(t, first, meta), ...messages.slice(0, at), last]);
            status(answer, 200, 'saving');
            const mine = path.join(t.scratch, `${name}.jsonl`);
            t.path(kind, source.file, '--at', String(at), '-o', mine, ...slugFlags(t, source), ...flags);
            sameBytes(fs.readFileSync(mine), fs.readFileSync(path.join(source.folder, `${name}.jsonl`)), `${kind} at ${at}`);
        }
    },
};

const replayedGroup = {
    id: 'replay-group',
    title: 'same bytes as the page\u2019s request, group',
    skip: (t) => t.legacy ? 'group chats have no header before 1.16' : null,
    prepare(t) {
        return { source: t.data.group('Replayed group') };
    },
    async run(t, { source }) {
        const [first, ...messages] = (await t.server.post('/api/chats/group/get', { id: source.chat })).body;
        const meta = merged(t, first.chat_metadata, source.chat);
        const answer = await t.server.post('/api/chats/group/save', {
            id: 'Posted in a group', chat: [posted(t, first, meta), ...messages.slice(0, 6)],
        });
        status(answer, 200, 'saving');
        const mine = path.join(t.scratch, 'Posted in a group.jsonl');
        t.path({ says: [/no group lists it/] }, 'checkpoint', source.file, '--at', '5', '-o', mine, ...slugFlags(t, source));
        sameBytes(fs.readFileSync(mine), fs.readFileSync(path.join(source.folder, 'Posted in a group.jsonl')), 'checkpoint');
    },
};

export const replay = [replayed, replayedGroup];
