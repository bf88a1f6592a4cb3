// SillyTavern's page as a user has it open: its own functions, called in its own page.

import fs from 'node:fs';
import path from 'node:path';

export const needsPage = (t) => t.browser ? null : 'no Chromium';

/** Waits until the page has loaded everything it needs before chats can be opened. */
export async function ready(opened) {
    for (let tries = 0; tries < 300; tries++) {
        const is = await opened.evaluate(() => {
            const loader = document.querySelector('#loader, #load-spinner');
            return typeof globalThis.SillyTavern?.getContext === 'function' && !loader
                && document.querySelectorAll('#rm_print_characters_block .character_select').length > 0;
        }).catch(() => false);
        if (is) {
            return opened;
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error('the page did not become ready in a minute');
}

/** Copies a source (and its group file) into a user folder of stchat's own. */
export function replicate(t, source) {
    const there = (file) => path.join(t.replica, path.relative(t.data.root, file));
    for (const file of [source.file, source.groupFile].filter(Boolean)) {
        fs.mkdirSync(path.dirname(there(file)), { recursive: true });
        fs.copyFileSync(file, there(file));
    }
    return { file: there(source.file), groupFile: source.groupFile && there(source.groupFile), old: source.old };
}

/** Opens a chat of a character or group in the page; gives what the page then has in memory. */
export async function open(t, source, name) {
    await t.page.evaluate(async (avatar, group, name) => {
        const main = await import('/script.js');
        const groups = await import('/scripts/group-chats.js');
        await main.getCharacters();
        if (group) {
            await groups.openGroupById(group);
            await groups.openGroupChat(group, name);
        } else {
            await main.selectCharacterById(String(main.characters.findIndex((c) => c.avatar === avatar)));
            await main.openCharacterChat(name);
        }
    }, source.avatar, source.id, name);
    return state(t);
}

/** The page's chat: its name, messages, metadata, and the texts of popups that are open. */
export function state(t) {
    return t.page.evaluate(async () => {
        const main = await import('/script.js');
        return {
            name: main.getCurrentChatId(),
            messages: main.chat,
            meta: main.chat_metadata,
            popups: [...document.querySelectorAll('dialog[open]')].map((d) => d.innerText.trim().slice(0, 80)),
        };
    });
}

export function createBranch(t, at, options) {
    return t.page.evaluate(async (at, options) => {
        const bookmarks = await import('/scripts/bookmarks.js');
        return bookmarks.createBranch(at, options);
    }, at, options);
}

export function createCheckpoint(t, at, name) {
    return t.page.evaluate(async (at, name) => {
        const bookmarks = await import('/scripts/bookmarks.js');
        return bookmarks.createNewBookmark(at, { forceName: name });
    }, at, name);
}

/** Saves the open chat in the page. */
export function savePage(t) {
    return t.page.evaluate(async () => {
        const main = await import('/script.js');
        await main.saveChatConditional();
    });
}

/** Clicks OK in the page's popup, and waits until the page has loaded anew. */
export async function reloadByPopup(t) {
    await t.page.evaluate(() => {
        globalThis.old = true;
        setTimeout(() => document.querySelector('dialog[open] .popup-button-ok').click());
    });
    while (!await t.page.evaluate(() => !globalThis.old).catch(() => false)) {
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await ready(t.page);
}

/** Waits until the page, which saves some things later, has left a file alone for two seconds. */
export async function quiet(file) {
    while (Date.now() - fs.statSync(file).mtimeMs < 2000) {
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
}
