// Holds what stchat makes of the extensions in internal/extension/all/rows.go against their own code:
//
//   STCHAT_EXTENSIONS=FOLDER node rows.mjs STCHAT
//
// FOLDER has a folder with the source of each extension, called as its repository is: LittleWhiteBox,
// SillyTavern-MessageSummarize, SillyTavern-MultihogDnDFramework, st-memory-enhancement,
// sillytavern-character-memory. Functions are taken out of it as they are, and run with stand-ins for
// SillyTavern. What is not there is left out, and named.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [stchat] = process.argv.slice(2);
const folder = process.env.STCHAT_EXTENSIONS;
if (!folder) {
    console.error('crosscheck: STCHAT_EXTENSIONS names no folder with extensions: their rows are left out');
    process.exit(0);
}

const chatLength = 12;
const user = fs.mkdtempSync(path.join(os.tmpdir(), 'stchat-rows-'));
let failures = 0;

/** Returns functions of a source file, which see the given names. */
function take(file, names, scope) {
    const source = fs.readFileSync(path.join(folder, file), 'utf8').replaceAll('\r\n', '\n');
    const texts = names.map((name) => functionIn(source, name));
    const body = `${texts.join('\n')}\nreturn { ${names.join(', ')} };`;
    return new Function(...Object.keys(scope), body)(...Object.values(scope));
}

/** Returns the text of a function: from its head to the brace that stands as far to the left. */
function functionIn(source, name) {
    const head = new RegExp(`^( *)(?:export )?((?:async )?)(?:function )?(${name}\\().*\\{$`, 'm').exec(source);
    assert.ok(head, `no function ${name}`);
    const [, indent, isAsync] = head;
    const from = source.indexOf(`${name}(`, head.index);
    const end = source.indexOf(`\n${indent}}`, from);
    return `${isAsync}function ${source.slice(from, end)}\n}`;
}

/** Runs stchat in the user's folder. */
function run(...args) {
    return execFileSync(stchat, ['-q', ...args], { cwd: user, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Writes a chat of twelve messages with this metadata. */
function write(name, metadata, message = () => ({})) {
    const lines = [{ user_name: 'u', character_name: 'Mira', chat_metadata: metadata }];
    for (let i = 0; i < chatLength; i++) {
        lines.push({ name: i % 2 ? 'Mira' : 'u', is_user: i % 2 === 0, mes: `message ${i}`, extra: {}, ...message(i) });
    }
    fs.mkdirSync(path.join(user, 'chats', 'Mira'), { recursive: true });
    fs.writeFileSync(path.join(user, 'chats', 'Mira', `${name}.jsonl`), lines.map((l) => `${JSON.stringify(l)}\n`).join(''));
}

function read(name) {
    const [header, ...chat] = fs.readFileSync(path.join(user, 'chats', 'Mira', `${name}.jsonl`), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
    return { metadata: header.chat_metadata, chat };
}

/** Returns what an isolated branch at a message is. */
function isolated(at) {
    const name = `at ${at}`;
    fs.rmSync(path.join(user, 'chats', 'Mira', `${name}.jsonl`), { force: true });
    run('branch', '--isolate', '--naming', 'sillytavern', '--at', String(at), '-n', name, 'chats/Mira/A.jsonl');
    return read(name);
}

async function check(extension, file, what) {
    if (!fs.existsSync(path.join(folder, file))) {
        console.error(`crosscheck: ${file} is not there: ${extension} is left out`);
        return;
    }
    try {
        console.log(`${extension}: ${await what(file)} compared`);
    } catch (error) {
        failures++;
        console.log(`${extension}: ${error.message}`);
    }
}

const byFloor = (value) => Object.fromEntries(Array.from({ length: chatLength }, (_, i) => [i, value(i)]));

/** LittleWhiteBox: a branch at N has what is left when the messages behind N are deleted. */
await check('LittleWhiteBox, variables', 'LittleWhiteBox/modules/variables/variables-core.js', async (file) => {
    for (let at = 0; at < chatLength; at++) {
        const own = {
            LWB_SNAP: byFloor((i) => ({ vars: { a: i }, rules: {}, roots: ['a'] })),
            extensions: {
                LittleWhiteBox: {
                    stateLogV2: { version: 1, floors: byFloor((i) => ({ ops: [i] })) },
                    stateCkptV2: { version: 1, every: 5, points: { 0: {}, 5: {}, 10: {} } },
                },
            },
        };
        write('A', own);
        const scope = {
            LWB_SNAP_KEY: 'LWB_SNAP', EXT_ID: 'LittleWhiteBox', LOG_KEY: 'stateLogV2', CKPT_KEY: 'stateCkptV2',
            getContext: () => ({ chatMetadata: own }), guardBypass: () => {}, clearStateAppliedFrom: () => {},
        };
        take(file, ['getSnapMap', 'clearSnapshotsFrom'], scope).clearSnapshotsFrom(at + 1);
        await take('LittleWhiteBox/modules/variables/state2/executor.js', ['trimStateV2FromFloor'], scope).trimStateV2FromFloor(at + 1);
        const { metadata } = isolated(at);
        assert.deepEqual(metadata.LWB_SNAP, own.LWB_SNAP);
        assert.deepEqual(metadata.extensions, own.extensions);
    }
    return `${chatLength} branches`;
});

await check('LittleWhiteBox, memory', 'LittleWhiteBox/modules/story-summary/vector/storage/state-store.js', (file) => {
    for (let at = 0; at < chatLength; at++) {
        const own = {
            extensions: {
                LittleWhiteBox: {
                    stateAtoms: Array.from({ length: chatLength }, (_, i) => ({ atomId: `atom-${i}-0`, floor: i, semantic: 's' })),
                    l0Index: { version: 1, byFloor: byFloor((floor) => ({ status: 'ok', floor })) },
                },
            },
        };
        write('A', own);
        const scope = { chat_metadata: own, EXT_ID: 'LittleWhiteBox', MODULE_ID: '', markL0MetadataDirty: () => {}, xbLog: { info: () => {} } };
        const theirs = take(file, ['ensureStateAtomsArray', 'ensureL0Index', 'deleteStateAtomsFromFloor', 'deleteL0IndexFromFloor'], scope);
        theirs.deleteStateAtomsFromFloor(at + 1);
        theirs.deleteL0IndexFromFloor(at + 1);
        assert.deepEqual(isolated(at).metadata.extensions, own.extensions);
    }
    return `${chatLength} branches`;
});

/** CharMemory: in a branch at N the first message that comes is new, and what it covered before is not. */
await check('CharMemory', 'sillytavern-character-memory/index.js', (file) => {
    let compared = 0;
    for (let last = -1; last < chatLength; last++) {
        write('A', { charMemory: { lastExtractedIndex: last, messagesSinceExtraction: 0, injectionData: {} } });
        for (const at of [0, 4, chatLength - 1]) {
            const { metadata, chat } = isolated(at);
            chat.push({ mes: 'the next message' });
            const scope = {
                MODULE_NAME: 'charMemory', chat_metadata: metadata, ensureMetadata: () => {}, getContext: () => ({ chat }), logActivity: () => {},
                extension_settings: { charMemory: { maxMessagesPerExtraction: 100 } },
                formatChatMessages: (_, from, to) => ({ text: 'x', messageCount: to - from }),
            };
            const { startIndex, endIndex } = take(file, ['collectRecentMessages'], scope).collectRecentMessages();
            assert.deepEqual([startIndex, endIndex], [Math.min(last, at) + 1, at + 1], `covered to ${last}, branch at ${at}`);
            compared++;
        }
    }
    return `${compared} branches`;
});

/** MessageSummarize: each message of a branch has its summary. */
await check('MessageSummarize', 'SillyTavern-MessageSummarize/index.js', (file) => {
    const { set_data, get_data } = take(file, ['set_data', 'get_data'], { MODULE_NAME: 'qvink_memory', saveChatDebounced: () => {} });
    write('A', {}, (i) => {
        const message = { extra: {}, swipe_id: 0 };
        set_data(message, 'memory', `summary ${i}`);
        return message;
    });
    run('delete', 'chats/Mira/A.jsonl', '3');
    const { chat } = read('A');
    const want = Array.from({ length: chatLength }, (_, i) => `summary ${i}`).filter((_, i) => i !== 3);
    assert.deepEqual(chat.map((m) => get_data(m, 'memory')), want);
    return `${chat.length} messages`;
});

/** st-memory-enhancement: the tables of a branch are those of its last message that has any. */
await check('st-memory-enhancement', 'st-memory-enhancement/core/manager.js', (file) => {
    const quiet = { log: () => {} };
    for (let at = 0; at < chatLength; at++) {
        write('A', { sheets: [{ uid: 's' }] }, (i) => (i % 4 === 1 ? { hash_sheets: { s: [[`cell ${i}`]] } } : {}));
        const { chat } = isolated(at);
        const scope = { console: quiet, APP: { getContext: () => ({ chat }) }, BASE: { initHashSheet: () => null } };
        const { piece } = take(file, ['getLastSheetsPiece'], scope).getLastSheetsPiece();
        const last = Math.floor((at - 1) / 4) * 4 + 1;
        assert.equal(piece?.hash_sheets.s[0][0] ?? null, at < 1 ? null : `cell ${last}`);
    }
    return `${chatLength} branches`;
});

/** Multihog: settings.json after a chat is renamed is what its own handler makes of it. */
await check('Multihog', 'SillyTavern-MultihogDnDFramework/src/features/chat/chat-rename-migrate.js', async (file) => {
    const cases = { moves: {}, taken: { B: { currentMemo: 'b' } }, 'not there': { A: undefined } };
    for (const [name, states] of Object.entries(cases)) {
        const settings = {
            chatStates: { A: { currentMemo: 'a' }, Z: { currentMemo: 'z' }, ...states },
            routerHistory: [{ chatId: 'A' }, { chatId: 'Z' }],
        };
        if (!settings.chatStates.A) {
            delete settings.chatStates.A;
            delete settings.routerHistory;
        }
        fs.rmSync(path.join(user, 'chats', 'Mira', 'B.jsonl'), { force: true });
        write('A', {});
        fs.writeFileSync(path.join(user, 'settings.json'), JSON.stringify({ extension_settings: { rpg_tracker: settings } }));
        run('rename', 'chats/Mira/A.jsonl', 'B');
        const scope = {
            SillyTavern: { getContext: () => ({}) }, getSettings: () => settings, runtimeState: {}, console: { warn: () => {} }, toastr: { warning: () => {}, info: () => {} },
            COMPANION_BY_CHAT_KEY: '', MEMO_RECOVERY_KEY: '', moveLocalChatMapEntry: () => 'missing', preserveCampaignPrefixAfterRename: () => false, saveChatState: () => {},
        };
        const theirs = take(file, ['stripChatFileExtension', 'onChatRenamedMigrate'], scope);
        await theirs.onChatRenamedMigrate({ oldFileName: 'A.jsonl', newFileName: 'B.jsonl' }, { saveSettings: () => {} });
        const ours = JSON.parse(fs.readFileSync(path.join(user, 'settings.json'), 'utf8'));
        assert.deepEqual(ours.extension_settings.rpg_tracker, settings, name);
    }
    return `${Object.keys(cases).length} renames`;
});

fs.rmSync(user, { recursive: true });
process.exit(failures ? 1 : 0);
