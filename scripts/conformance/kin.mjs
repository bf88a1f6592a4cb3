// Chats and their relatives: what stchat does to them, there and back, and what the page makes of them afterwards.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { isListed } from './checks.mjs';
import { same, status } from './expect.mjs';
import { needsPage, open, savePage, state } from './tab.mjs';
import { changesBetween, snapshot } from './watch.mjs';

export const skip = (t) => needsPage(t) ?? (t.atLeast('1.19.0') ? null : 'tested with 1.19');

/** Where stchat and the server write. */
export const folders = (t) => ['chats', 'group chats', 'groups', 'characters', 'worlds'].map((name) => path.join(t.data.root, name));

export const chatFile = (source, name) => path.join(source.folder, `${name}.jsonl`);
export const cardFile = (t, source) => path.join(t.data.root, 'characters', source.avatar);

/** Runs stchat, takes it back, and does it again: undo and redo give back every byte. Gives what it printed. */
export function andBack(t, changes, ...args) {
    const before = snapshot(folders(t));
    const printed = t.stchat({ changes }, ...args, '-q');
    const after = snapshot(folders(t));
    t.stchat({ changes }, 'undo', '-q', '--data', t.data.root);
    same(changesBetween(before, snapshot(folders(t))), [], `what undo of ${args[0]} leaves changed`);
    t.stchat({ changes }, 'redo', '-q', '--data', t.data.root);
    same(changesBetween(after, snapshot(folders(t))), [], `what is not as ${args[0]} left it, after undo and redo`);
    return printed;
}

/** Renames a file and then back, and fails unless every byte is what it was; then renames it for good, with undo tried. */
export function rename(t, changes, file, name, ...flags) {
    const before = snapshot(folders(t));
    const { dir, name: old, ext } = path.parse(file);
    t.stchat({ changes }, 'rename', file, name, ...flags, '-q');
    t.stchat({ changes }, 'rename', path.join(dir, name + ext), old, ...flags, '-q');
    same(changesBetween(before, snapshot(folders(t))), [], `what rename of ${old} and back leaves changed`);
    return andBack(t, changes, 'rename', file, name, ...flags);
}

/** Fails where check finds anything else than wanted, an info too. */
export function finds(t, rules, ...files) {
    const found = t.stchat({ code: rules.length ? 1 : 0 }, 'check', '--format', 'json', '--severity', 'info', ...files);
    const of = found.trim().split('\n').map((line) => JSON.parse(line)).filter((f) => f.rule);
    same(of.map((f) => f.rule), rules, `what check finds (${of.map((f) => f.message).join(' / ')})`);
}

export const clean = (t, ...files) => finds(t, [], ...files);

/** A chat with a checkpoint at 4, a branch at 6, and a branch of that at 5; all linked. */
export function family(t, source) {
    const changes = [source.file, ...(source.groupFile ? [source.groupFile] : [])];
    const copy = (from, kind, at, name) => {
        const file = t.path({ changes: [...new Set([...changes.slice(1), from])], says: [/reload/] }, kind, from, '--at', String(at), '-n', name, '--link');
        return path.basename(file, '.jsonl');
    };
    const point = copy(source.file, 'checkpoint', 4, 'Point');
    const side = copy(source.file, 'branch', 6, 'Side');
    const kid = copy(chatFile(source, side), 'branch', 5, 'Kid');
    return { point, side, kid };
}

/** Runs a slash command in the page; gives what it pipes on. */
export const slash = (t, command) => t.page.evaluate(async (command) =>
    (await SillyTavern.getContext().executeSlashCommandsWithOptions(command)).pipe, command);

/** Selects a character as a click on it does: its card says which chat opens. */
export async function select(t, source) {
    await t.page.evaluate(async (avatar) => {
        const main = await import('/script.js');
        const groups = await import('/scripts/group-chats.js');
        groups.resetSelectedGroup();
        await main.getCharacters();
        await main.selectCharacterById(String(main.characters.findIndex((c) => c.avatar === avatar)));
    }, source.avatar);
    return state(t);
}

/** Leaves whatever is open, so that the page holds no chat that stchat is about to touch. */
export const leave = (t) => t.page.evaluate(async () => {
    const main = await import('/script.js');
    await main.closeCurrentChat();
});

/** Fails unless the page opens a chat with so many messages, and its way back leads to the parent. */
export async function leadsBack(t, source, name, count, parent) {
    const seen = await open(t, source, name);
    assert.equal(seen.name, name, `the chat that the page opens: ${seen.name}, not ${name}`);
    assert.equal(seen.messages.length, count, `messages of ${name}`);
    assert.equal(await slash(t, '/checkpoint-parent'), parent, `the parent of ${name}`);
    await slash(t, '/checkpoint-exit');
    assert.equal((await state(t)).name, parent, `the chat behind "back to parent" of ${name}`);
}

/** Fails unless the open chat has a flag at a message that leads to a checkpoint. */
export async function isFlagged(t, at, point) {
    const flag = await t.page.evaluate((at) => document.querySelector(`#chat .mes[mesid="${at}"]`)?.getAttribute('bookmark_link'), at);
    assert.equal(flag, point, `the flag at message ${at}`);
    await slash(t, `/checkpoint-go ${at}`);
    assert.equal((await state(t)).name, point, `the chat behind the flag at message ${at}`);
}

/** The chat that a character's card has open, as the server reads it. */
export async function current(t, source) {
    const got = await t.server.post('/api/characters/get', { avatar_url: source.avatar });
    status(got, 200, 'characters/get');
    return got.body.chat;
}

/** Fails unless the server lists just these chats of a character, with their numbers of messages. */
export async function lists(t, source, want) {
    for (const [name, count] of Object.entries(want)) {
        await isListed(t, source, name, count);
    }
    const listed = await t.server.post('/api/characters/chats', { avatar_url: source.avatar });
    same(Object.values(listed.body).map((c) => c.file_name.replace(/\.jsonl$/, '')).sort(), Object.keys(want).sort(), 'the list of chats');
}

/** What a message is to a reader. One without swipes, which the page gives a list, has its text for one. */
export const shown = (m) => ({
    name: m.name, user: Boolean(m.is_user), hidden: Boolean(m.is_system), mes: m.mes,
    swipes: m.swipes?.length ? m.swipes : [m.mes], swipe: m.swipe_id ?? 0,
});

/** Fails unless the page opens a chat with these messages: names, texts, swipes, flags. Gives what the page has. */
export async function shows(t, source, name, messages) {
    const seen = await open(t, source, name);
    assert.equal(seen.name, name, `the chat that the page opens: ${seen.name}, not ${name}`);
    same(seen.messages.map(shown), messages.map(shown), `the messages of ${name} in the page`);
    return seen;
}

/** Saves the open chat in the page, which has nothing to say against it. */
export async function saves(t) {
    await savePage(t);
    same((await state(t)).popups, [], 'popups after saving');
}
