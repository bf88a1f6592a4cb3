// Checkpoints and branches of one character's chats.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { isListed, isNamed, lives, opensAs, save, written } from '../checks.mjs';
import { literally, sameBytes, status, swiped, time } from '../expect.mjs';
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
        return { source, file: t.path('branch', source.file, '--at', '6', '--swipe', '2', '--naming', 'sillytavern') };
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
        const point = t.path('checkpoint', source.file, '-n', 'Linked point', ...flags);
        const branch = t.path('branch', source.file, ...flags);
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
        const files = Object.keys(typed).map((name) =>
            t.path('checkpoint', source.file, '--at', '3', '-n', name, '--naming', 'sillytavern'));
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

const agreed = {
    id: 'inspect',
    title: 'inspect and check agree with the server',
    prepare(t) {
        return { source: t.data.solo('inspected', { legacy: t.legacy, count: 9 }) };
    },
    async run(t, { source }) {
        // What SillyTavern itself wrote has nothing that check calls an error.
        status(await save(t, source, source.chat, [source.header, ...source.messages]), 200, 'saving');
        t.ok('check', source.file);
        const card = JSON.parse(t.ok('inspect', '--json', source.file).stdout);
        await isListed(t, source, source.chat, card.messages);
        assert.equal(card.header, t.legacy ? 'legacy' : 'modern', `inspect calls the header ${card.header}`);
        assert.equal(card.integrity, source.meta.integrity, 'inspect reads another integrity');
    },
};

export const solo = [
    ...['checkpoint', 'branch'].flatMap((kind) => Object.keys(styles).map((style) => naming(kind, style))),
    swipe, link, chain, names, agreed,
];
