// Lorebooks: clones made for a checkpoint, by themselves, and the state that --isolate cuts.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { bookFile, lives, reload, written } from '../checks.mjs';
import { entryHash, same, sameBytes, status } from '../expect.mjs';
import { story } from '../fixtures.mjs';

/** The clone as it must be: the book under another name, without what an extension keeps in it for itself. */
function cloneOf({ book }, name) {
    const kept = Object.entries(book.entries).filter(([, e]) => !/^(__operation_queue$|_registry_)/.test(e.comment));
    return { ...book, name, entries: Object.fromEntries(kept) };
}

/** Fails unless the server gives the lorebook's content under that name, and lists it by that name. */
async function bookOpensAs(t, name, want) {
    const got = await t.server.post('/api/worldinfo/get', { name });
    status(got, 200, `worldinfo/get ${name}`);
    same(got.body, want, `worldinfo/get ${name}`);
    const settings = await t.server.post('/api/settings/get', {});
    assert.ok(settings.body.world_names.includes(name), `settings/get does not list ${JSON.stringify(name)}`);
    if (t.atLeast('1.16.0')) {
        const listed = await t.server.post('/api/worldinfo/list', {});
        const entry = listed.body.find((b) => b.file_id === name);
        assert.ok(entry, `worldinfo/list does not have ${JSON.stringify(name)}`);
        assert.equal(entry.name, name, `worldinfo/list shows ${JSON.stringify(entry.name)}`);
    }
}

/**
 * A chat at message 5 of 12 that uses a lorebook, with state of the core and of an extension before and after 5.
 * Of 0..5 message 3 is hidden, so that five are visible.
 */
export function livingChat(t, character) {
    const book = t.data.lorebook(`Book of ${character}`);
    const messages = story(12, { character, legacy: t.legacy });
    for (const i of [2, 8]) {
        messages[i].extra.auto_recap_memory = {
            scene_break: true, scene_recap_memory: `{"developments":["scene up to ${i}"]}`,
        };
    }
    const effect = (uid, start, end) => ({
        hash: entryHash(book.book.entries[uid], book.name), start, end, protected: false,
    });
    const meta = {
        world_info: book.name,
        auto_lorebooks: { lorebookName: book.name, attachedAt: 1767322000000 },
        lastInContextMessageId: 9,
        timedWorldInfo: {
            sticky: { [`${book.name}.3`]: effect(3, 4, 9), [`${book.name}.7`]: effect(7, 8, 13) },
            cooldown: {},
        },
        auto_recap_running_scene_recaps: {
            chat_id: `${character} - living`,
            current_version: 1,
            versions: [2, 8].map((index, version) => ({
                version, timestamp: 1767322000000 + version, content: `recap ${version}`, scene_count: version + 1,
                excluded_count: 0, prev_scene_index: 0, new_scene_index: index,
            })),
        },
    };
    const source = t.data.solo(character, { legacy: t.legacy, chat: `${character} - living`, messages, meta });
    return { source, book, effect };
}

/** The metadata of that chat as it was at message 5, for a chat and a lorebook of other names. */
export function metaAtFive({ source, book }, chat, clone) {
    const meta = structuredClone(source.meta);
    meta.world_info = clone;
    meta.auto_lorebooks.lorebookName = clone;
    delete meta.lastInContextMessageId;
    meta.timedWorldInfo = {
        sticky: { [`${clone}.3`]: { hash: entryHash(book.book.entries[3], clone), start: 4, end: 9, protected: false } },
        cooldown: {},
    };
    const recaps = meta.auto_recap_running_scene_recaps;
    recaps.chat_id = chat;
    recaps.current_version = 0;
    recaps.versions.pop();
    return meta;
}

/** What --isolate says of that chat at message 5, if asked. */
export const stateNotes = [/: core: lastInContextMessageId/, /: core: /, /: auto_recap: /, /: dotted.key: left as it is/, /: created /];

const isolated = {
    id: 'isolate',
    title: 'checkpoint --isolate with its lorebook',
    prepare(t) {
        const living = livingChat(t, 'isolated');
        const { source, book } = living;
        const before = [fs.readFileSync(source.file), fs.readFileSync(book.file)];
        const file = t.path({ changes: [bookFile(t, `${book.name}__CP_Alone`)] }, 'checkpoint', source.file, '--at', '5',
            '-n', 'Alone', '--naming', 'sillytavern', '--isolate');
        sameBytes(fs.readFileSync(source.file), before[0], 'the source');
        sameBytes(fs.readFileSync(book.file), before[1], 'the source\u2019s lorebook');
        return { living, file };
    },
    async run(t, { living, file }) {
        const { source, book } = living;
        const clone = `${book.name}__CP_Alone`;
        const meta = metaAtFive(living, 'Alone', clone);
        await lives(t, source, written(file, {
            header: source.header, meta, messages: source.messages.slice(0, 6), mainChat: source.chat,
        }));
        await bookOpensAs(t, clone, cloneOf(book, clone));
        await bookOpensAs(t, book.name, book.book);
    },
};

/** Auto-Recap keeps the lorebook's entries at each scene break; a snapshot builds the book of that time from them. */
const snapshot = {
    id: 'snapshot',
    title: 'checkpoint with its lorebook as of a scene break',
    prepare(t) {
        const book = t.data.lorebook('Book of then');
        const messages = story(12, { character: 'then', legacy: t.legacy });
        // What was in the book at message 4: an entry of another text, and none of the others.
        const then = {
            comment: 'Quarry', uid: 3, world: book.name, key: ['quarry'], keysecondary: [], content: 'It was a hill.',
            position: 0, depth: 4, order: 100, role: 0, constant: false, vectorized: false, selective: true,
            selectiveLogic: 0, sticky: 5, disable: false, addMemo: true, excludeRecursion: false,
            preventRecursion: false, ignoreBudget: false, probability: 100, useProbability: true, group: '',
            groupOverride: false, groupWeight: 100,
        };
        messages[4].extra.auto_recap_memory = {
            scene_break: true, scene_recap_memory: '{"developments":["then"]}', scene_recap_current_index: 0,
            scene_recap_metadata: {
                0: {
                    timestamp: 1767322000000, startIdx: 0, endIdx: 4, sceneMessageCount: 5, totalActivatedEntries: 1,
                    totalBeforeFiltering: 1, chatLorebookName: book.name, suppressOtherLorebooks: false,
                    allEntries: [then], entries: [then],
                },
            },
        };
        const source = t.data.solo('then', { legacy: t.legacy, messages, meta: { world_info: book.name } });
        const file = t.path({ changes: [bookFile(t, 'Book of then__CP_Then')] },
            'checkpoint', source.file, '--at', '7', '-n', 'Then', '--naming', 'sillytavern', '--lorebook', 'snapshot');
        return { source, book, then, file };
    },
    async run(t, { source, book, then, file }) {
        const name = 'Book of then__CP_Then';
        await lives(t, source, written(file, {
            header: source.header, meta: { ...source.meta, world_info: name },
            messages: source.messages.slice(0, 8), mainChat: source.chat,
        }));
        const got = (await t.server.post('/api/worldinfo/get', { name })).body;
        await bookOpensAs(t, name, got);
        const entries = Object.values(got.entries ?? {});
        const plain = entries.filter((e) => e.comment !== '__operation_queue');
        assert.equal(plain.length, 1, `the snapshot has ${plain.length} entries`);
        for (const key of ['uid', 'comment', 'content', 'key', 'sticky', 'order', 'probability']) {
            same(plain[0][key], then[key], `the entry\u2019s ${key}`);
        }
        for (const queue of entries.filter((e) => !plain.includes(e))) {
            same(JSON.parse(queue.content).queue, [], 'the queue');
        }
        await bookOpensAs(t, book.name, book.book);
    },
};

const clones = {
    id: 'clone-lorebook',
    title: 'clone-lorebook, and a chat pointed at it',
    prepare(t) {
        const book = t.data.lorebook('Plain book');
        const source = t.data.solo('rebound', { legacy: t.legacy, meta: { world_info: book.name } });
        const first = t.path('clone-lorebook', book.file, '--internal', 'keep');
        const second = t.path({ changes: [source.file], says: [reload] },
            'clone-lorebook', '--rebind', source.file);
        return { book, source, files: [first, second] };
    },
    async run(t, { book, source, files }) {
        const worlds = path.dirname(book.file);
        same(files, ['Plain book (1)', 'Plain book (2)'].map((n) => path.join(worlds, `${n}.json`)), 'the clones');
        await bookOpensAs(t, 'Plain book (1)', { ...book.book, name: 'Plain book (1)' });
        await bookOpensAs(t, 'Plain book (2)', cloneOf(book, 'Plain book (2)'));
        const rebound = { ...source.header, chat_metadata: { ...source.meta, world_info: 'Plain book (2)' } };
        await lives(t, source, { name: source.chat, file: source.file, header: rebound, messages: source.messages });
    },
};

export const lorebook = [isolated, snapshot, clones];
