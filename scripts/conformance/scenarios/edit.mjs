// Edits: what the real page makes of a file with its own functions and slash commands, and what stchat makes of the
// same file. Both files must be equal, key order too, but for what is made anew each time: dates and ids.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { reload } from '../checks.mjs';
import { sameBytes } from '../expect.mjs';
import { story } from '../fixtures.mjs';
import { andBack, chatFile, clean, leave, shows } from '../kin.mjs';
import { createBranch, editMessage, needsPage, open, quiet, replicate, savePage } from '../tab.mjs';

/** The present: what has such a date was written in this run. */
const now = new Date().toISOString().slice(0, 7);

/** What stands in `extra` of a text that a slash command made, and of one that stchat made. */
const manual = (extra) => extra?.api === 'manual' && ['slash command', 'stchat'].includes(extra.model);

/** A message without what is made anew each time, and without who made it. Keys keep their order. */
function settled(message, made) {
    const text = JSON.stringify(message, (key, value) => {
        if (key === 'send_date' && String(value).startsWith(now)) {
            return 'now';
        }
        if (key === 'extra' && manual(value)) {
            const { type } = value;
            return { ...(type ? { type } : {}), api: 'manual' };
        }
        if (key === 'extra' && made && value && Object.keys(value).every((k) => ['type', 'isSmallSys'].includes(k))) {
            return { ...(value.type ? { type: value.type } : {}), api: 'manual' };
        }
        // A slash command without a bias notes the empty text that it found for one.
        return key === 'is_system' && made ? Boolean(value) : value;
    });
    if (!made) {
        return text;
    }
    const { force_avatar, original_avatar, ...rest } = JSON.parse(text);
    if (rest.extra?.type) {
        // The page gives every message of nobody's that it shows a list of swipes.
        for (const key of ['swipes', 'swipe_id', 'swipe_info']) {
            delete rest[key];
        }
    }
    return JSON.stringify(rest);
}

/** The lines of a chat, with those settled that were not there before. */
function comparable(file, before) {
    const old = new Set(before);
    return fs.readFileSync(file, 'utf8').split('\n').map((line, i) => i === 0 || old.has(line) ? line : settled(JSON.parse(line), false));
}

const slash = (text) => (t) => t.page.evaluate((text) => SillyTavern.getContext().executeSlashCommandsWithOptions(text), text);

const inScript = (name, ...args) => (t) => t.page.evaluate(async (name, args) => {
    await (await import('/script.js'))[name](...args);
}, name, args);

const swipeTo = (at, k) => inScript('swipe', null, 'right', { source: 'swipe_picker', forceMesId: at, forceSwipeId: k });

const editor = (at, text) => (t) => editMessage(t, at, text);

/**
 * What is done: in the page, and with stchat. made: a new message of which only what both say is compared: the page also
 * notes which slash command it was, and whose picture is shown. chosen: the swipe that was added is then chosen.
 */
const steps = [
    { what: 'deleteMessage', page: inScript('deleteMessage', 4), ours: ['delete', '4'] },
    { what: 'deleteMessage of the last one', page: inScript('deleteMessage', 10), ours: ['delete', '-1'] },
    { what: 'the editor, a reply', page: editor(2, 'said "otherwise" — é'), ours: ['edit', '2', '--set', 'mes=said "otherwise" — é', '--set', '/extra/bias=null'] },
    { what: 'the editor, the user', page: editor(1, 'asked otherwise'), ours: ['edit', '1', 'asked otherwise', '--set', '/extra/bias='] },
    { what: 'a swipe', page: swipeTo(2, 1), ours: ['swipe', '2', '2'] },
    { what: 'a swipe back', page: swipeTo(2, 0), ours: ['swipe', '2', '1'] },
    { what: 'deleteSwipe of another', page: inScript('deleteSwipe', 2, 2), ours: ['swipe', '2', '--delete', '3'] },
    { what: 'deleteSwipe of the chosen one', page: inScript('deleteSwipe', 0, 2), ours: ['swipe', '2', '--delete', '1'] },
    { what: '/hide', page: slash('/hide 5-7'), ours: ['hide', '5-7'] },
    { what: '/unhide', page: slash('/unhide 6'), ours: ['unhide', '6'] },
    { what: '/sendas', page: (t, { character }) => slash(`/sendas name="${character}" Said by hand.`)(t), ours: ['add', '--role', 'character', '--text', 'Said by hand.'], made: true },
    { what: '/addswipe', page: slash('/addswipe Or so.'), ours: ['swipe', '-1', '--add', 'Or so.'] },
    { what: '/addswipe switch=true', page: slash('/addswipe switch=true Or thus.'), ours: ['swipe', '-1', '--add', 'Or thus.'], chosen: true },
    { what: '/sys', page: slash('/sys Night falls.'), ours: ['add', '--role', 'narrator', '--text', 'Night falls.'], made: true },
    { what: '/comment', page: slash('/comment Mind this.'), ours: ['add', '--role', 'comment', '--text', 'Mind this.'], made: true },
    { what: '/sys at=3', page: slash('/sys at=3 A bell.'), ours: ['add', '--at', '3', '--role', 'narrator', '--text', 'A bell.'], made: true },
];

const edits = {
    id: 'edit-page',
    title: 'page: edits of messages, same file as stchat\u2019s',
    skip: (t) => needsPage(t) ?? (t.atLeast('1.19.0') ? null : 'how stchat edits is how 1.19 does'),
    prepare(t) {
        const source = t.data.solo('edited', { meta: { tainted: undefined } });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        await open(t, source, source.chat);
        await savePage(t);
        await quiet(source.file);
        fs.copyFileSync(source.file, replica.file);
        for (const { what, page, ours, made, chosen } of steps) {
            const before = fs.readFileSync(replica.file, 'utf8').split('\n');
            await page(t, source);
            await savePage(t);
            await quiet(source.file);
            const edit = (verb, ...args) => t.stchat({ changes: [replica.file], says: [reload] }, verb, replica.file, ...args);
            const printed = edit(...ours);
            if (chosen) {
                edit('swipe', '-1', printed.trim());
            }
            const theirs = comparable(source.file, before);
            const mine = comparable(replica.file, before);
            assert.equal(mine.length, theirs.length, `${what}: lines`);
            for (const [i, line] of theirs.entries()) {
                const [a, b] = made && i > 0 && line !== before[i] ? [mine[i], line].map((l) => settled(JSON.parse(l), true)) : [mine[i], line];
                sameBytes(a, b, `${what}: line ${i + 1}`);
            }
            // Both go on from the page's file.
            fs.copyFileSync(source.file, replica.file);
        }
        assert.ok(fs.existsSync(path.join(source.folder, `${source.chat}.jsonl`)));
    },
};

/** A greeting that nobody touched: the page may resolve its macros anew, so its text does not go into its swipe. */
const greeting = {
    id: 'edit-greeting',
    title: 'page: a swipe of an untouched greeting, same file',
    skip: edits.skip,
    prepare(t) {
        const first = {
            name: 'greeting', is_user: false, is_system: false, send_date: '2026-01-02T03:00:06.000Z', mes: 'Hello, Ana.',
            extra: {}, swipe_id: 0, swipes: ['Hello, {{user}}.', 'Again?'],
            swipe_info: [{ send_date: '2026-01-02T03:00:06.000Z', extra: {} }, { send_date: '2026-01-02T03:00:06.000Z', extra: {} }],
        };
        const source = t.data.solo('greeting', { messages: [first], meta: { tainted: undefined } });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        await open(t, source, source.chat);
        await savePage(t);
        await quiet(source.file);
        fs.copyFileSync(source.file, replica.file);
        await swipeTo(0, 1)(t);
        await savePage(t);
        await quiet(source.file);
        t.stchat({ changes: [replica.file], says: [reload] }, 'swipe', replica.file, '0', '2');
        sameBytes(fs.readFileSync(replica.file), fs.readFileSync(source.file), 'the chat');
    },
};

/** A swipe is deleted where swipe_info is missing: the page fills it in first, so that each swipe has its own extra. */
const short = {
    id: 'edit-short',
    title: 'page: deleteSwipe without swipe_info, same file',
    skip: edits.skip,
    prepare(t) {
        const date = '2026-01-02T03:00:06.000Z';
        const messages = [
            { name: 'short', is_user: false, is_system: false, send_date: date, mes: 'Hello.', extra: {}, swipe_id: 0, swipes: ['Hello.'], swipe_info: [{ send_date: date, extra: {} }] },
            { name: 'Ana', is_user: true, is_system: false, send_date: date, mes: 'Hi.', extra: {} },
            { name: 'short', is_user: false, is_system: false, send_date: date, mes: 'two', extra: { model: 'm' }, swipe_id: 1, swipes: ['one', 'two', 'three'] },
        ];
        const source = t.data.solo('short', { messages, meta: { tainted: true } });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        // Before the page has seen the file.
        t.stchat({ changes: [replica.file], says: [reload] }, 'swipe', replica.file, '2', '--delete', '2');
        await open(t, source, source.chat);
        await inScript('deleteSwipe', 1, 2)(t);
        await savePage(t);
        await quiet(source.file);
        const [mine, theirs] = [replica.file, source.file].map((file) => fs.readFileSync(file, 'utf8').split('\n').slice(1));
        assert.deepEqual(mine, theirs);
    },
};

/** Several of the page's edits, and the same as one call, whose indexes are all those before it. */
const together = {
    id: 'edit-apply',
    title: 'page: many edits, same file as one stchat edit --ops',
    skip: edits.skip,
    prepare(t) {
        const source = t.data.solo('edited together');
        const ops = path.join(t.scratch, 'together');
        fs.writeFileSync(ops, [
            { op: 'delete', at: [4, 11] },
            { op: 'set', at: 1, set: { mes: 'asked otherwise', '/extra/bias': '' } },
            { op: 'hide', at: '5..6' },
            { op: 'unhide', at: 3 },
            { op: 'swipe', at: 2, choose: 2 },
            { op: 'swipe', at: 8, delete: 3 },
        ].map((op) => JSON.stringify(op)).join('\n'));
        return { source, replica: replicate(t, source), ops };
    },
    async run(t, { source, replica, ops }) {
        await open(t, source, source.chat);
        for (const step of [editor(1, 'asked otherwise'), slash('/hide 5-6'), slash('/unhide 3'), swipeTo(2, 1), inScript('deleteSwipe', 2, 8), inScript('deleteMessage', 11), inScript('deleteMessage', 4)]) {
            await step(t);
        }
        await savePage(t);
        await quiet(source.file);
        t.stchat({ changes: [replica.file], says: [reload] }, 'edit', replica.file, '--ops', ops);
        sameBytes(fs.readFileSync(replica.file), fs.readFileSync(source.file), 'the chat');
    },
};

/** The page branches, opens the branch and edits its last message; stchat writes the branch with the new text, and leaves the chat alone. */
const asBranch = {
    id: 'edit-as-branch',
    title: 'page: a branch that is edited, same file as branch --text',
    skip: edits.skip,
    prepare(t) {
        const source = t.data.solo('edited branch');
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        const before = fs.readFileSync(replica.file);
        await open(t, source, source.chat);
        const name = await createBranch(t, 6);
        await open(t, source, name);
        await editMessage(t, 6, 'said otherwise');
        await savePage(t);
        const theirs = path.join(source.folder, `${name}.jsonl`);
        await quiet(theirs);
        const mine = t.path('branch', replica.file, '6', '--text', 'said otherwise', '--naming', 'sillytavern');
        // The page's editor also notes that the text has no bias.
        t.stchat({ changes: [mine], says: [reload] }, 'edit', mine, '6', '--set', '/extra/bias=null');
        assert.equal(path.basename(mine), path.basename(theirs), 'the name');
        const text = (file) => {
            const found = fs.readFileSync(file, 'utf8');
            return found.replace(JSON.parse(found.split('\n')[0]).chat_metadata.integrity, 'its slug');
        };
        sameBytes(text(mine), text(theirs), 'the branch');
        sameBytes(fs.readFileSync(replica.file), before, 'the source');
    },
};

/** A narrator's text and a call of a tool stay as they are; the page's /hide and /unhide change these too. */
const hidden = {
    id: 'edit-hide',
    title: 'page: hide and unhide over a range with a narrator and a call of a tool',
    skip: edits.skip,
    prepare(t) {
        const messages = story(12, { character: 'hidden' });
        const { send_date } = messages[5];
        messages[5] = { name: 'Narrator', is_user: false, is_system: false, send_date, mes: 'Night falls.', extra: { type: 'narrator', isSmallSys: false } };
        const call = { id: 'call_1', displayName: 'Tide', name: 'tide', parameters: '{}', result: 'high' };
        messages[7] = { name: 'hidden', is_user: false, is_system: true, send_date, mes: 'Tool calls: Tide', extra: { isSmallSys: true, tool_invocations: [call], api: 'openai', model: 'none' } };
        const source = t.data.solo('hidden', { messages, meta: { tainted: true } });
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        const rows = (file) => fs.readFileSync(file, 'utf8').split('\n');
        await open(t, source, source.chat);
        await savePage(t);
        await quiet(source.file);
        fs.copyFileSync(source.file, replica.file);
        const before = rows(source.file);
        const ours = (...args) => t.stchat({ changes: [replica.file], says: [reload] }, ...args);

        await slash('/hide 4-9')(t);
        await savePage(t);
        await quiet(source.file);
        ours('hide', replica.file, '4..9');
        const theirs = rows(source.file);
        assert.notEqual(theirs[6], before[6], 'the page hides the narrator, too');
        sameBytes(rows(replica.file).join('\n'), theirs.map((line, i) => [6, 8].includes(i) ? before[i] : line).join('\n'), 'the chat with hidden messages');

        await leave(t);
        fs.copyFileSync(replica.file, source.file);
        const { messages } = await open(t, source, source.chat);
        // As Generate of the page's script.js chooses what the model sees, where it may call tools.
        const sent = [...messages.keys()].filter((i) => !messages[i].is_system || Array.isArray(messages[i].extra?.tool_invocations));
        assert.deepEqual(sent, [0, 1, 2, 5, 7, 10, 11], 'what the model sees');
        await savePage(t);
        await quiet(source.file);
        sameBytes(fs.readFileSync(source.file), fs.readFileSync(replica.file), 'the file saved by the page');

        ours('unhide', replica.file, '4..9');
        sameBytes(rows(replica.file).join('\n'), before.join('\n'), 'the chat with its messages shown again');
    },
};

/** The page's editor, message after message, and one replace. */
const replaced = {
    id: 'edit-replace',
    title: 'page: edits of each message with a word, same file as replace; of a folder',
    skip: edits.skip,
    prepare(t) {
        const source = t.data.solo('replaced', { meta: { tainted: true } });
        t.path('copy', source.file, 'Second', '-q');
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        const word = 'ember';
        const other = 'a "c\u00f6al"';
        const ats = source.messages.flatMap((m, at) => m.mes.includes(word) ? [at] : []);
        assert.ok(ats.some((at) => source.messages[at].is_user) && ats.some((at) => !source.messages[at].is_user), 'the user and the character say the word');
        await open(t, source, source.chat);
        for (const at of ats) {
            await editMessage(t, at, source.messages[at].mes.replaceAll(word, other));
        }
        await savePage(t);
        await quiet(source.file);
        assert.equal(t.stchat({ changes: [replica.file], says: [reload] }, 'replace', word, other, replica.file), `${ats.join('\n')}\n`, 'the messages that replace names');
        // The page's editor also notes that the text has no bias: an empty one in the user's.
        const noted = (at) => ['edit', replica.file, String(at), '--set', `/extra/bias=${source.messages[at].is_user ? '' : 'null'}`];
        ats.forEach((at) => t.stchat({ changes: [replica.file], says: [reload] }, ...noted(at)));
        sameBytes(fs.readFileSync(replica.file), fs.readFileSync(source.file), 'the chat');

        await leave(t);
        const files = [source.file, chatFile(source, 'Second')];
        const want = files.map((file) => fs.readFileSync(file, 'utf8').split('\n').slice(1).map((line) => JSON.parse(line)).map((m) => ({
            ...m, mes: m.mes.replaceAll('harbour', 'haven'), ...(m.swipes ? { swipes: m.swipes.map((text) => text.replaceAll('harbour', 'haven')) } : {}),
        })));
        andBack(t, files, 'replace', 'harbour', 'haven', source.folder, '--swipes');
        await shows(t, source, source.chat, want[0]);
        await shows(t, source, 'Second', want[1]);
        await leave(t);
        clean(t, source.folder);
    },
};

export const edit = [edits, greeting, short, together, asBranch, hidden, replaced];
