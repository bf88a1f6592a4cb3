// Chats of other programs: what stchat makes of them, and what SillyTavern's own import does.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { groupOf, groupOpensAs, opensAs } from '../checks.mjs';
import { same, sameBytes, status } from '../expect.mjs';
import { ask } from '../waits.mjs';

export const user = 'Tom';

/** Who says what in a chat's file. */
const said = (file) => fs.readFileSync(file, 'utf8').trim().split('\n').slice(1).map((line) => JSON.parse(line))
    .map((m) => ({ name: m.name, is_user: Boolean(m.is_user), mes: m.mes }));

/** Imports a file as SillyTavern's page does; gives the chats that came to be. */
export async function upload(t, source, file) {
    const before = new Set(fs.readdirSync(source.folder));
    const form = new FormData();
    form.append('avatar', new Blob([fs.readFileSync(file)]), path.basename(file));
    form.append('file_type', path.extname(file).slice(1));
    form.append('avatar_url', source.avatar);
    form.append('character_name', source.character);
    form.append('user_name', user);
    const response = await ask(`${t.server.url}/api/chats/import`, { method: 'POST', body: form });
    const body = await response.json().catch(() => ({}));
    const chats = fs.readdirSync(source.folder).filter((name) => !before.has(name));
    return { body, chats: chats.map((name) => path.join(source.folder, name)) };
}

/** The same conversation as each program saves it, with the extension that SillyTavern goes by. */
export const formats = {
    kobold: ['json', (c) => ({
        prompt: `\n{{[INPUT]}}\nGood evening.`, actions: [`\n{{[OUTPUT]}}\nYou are late.`, `\n{{[INPUT]}}\nThe fog.`, `{{[OUTPUT]}}"It *is* fog"`],
        savedsettings: { chatname: user, chatopponent: `${c}||$||Other` },
    })],
    ooba: ['json', () => ({ data: [['a', 'b']], data_visible: [['Good evening.', 'You are late.'], ['The fog.', '"It *is* fog"']] })],
    agnai: ['json', (c) => ({ messages: [
        { userId: 'u', handle: user, msg: 'Good evening.' }, { characterId: 'c', handle: c, msg: 'You are late.' },
        { userId: 'u', handle: user, msg: 'The fog.' }, { characterId: 'c', handle: c, msg: '"It *is* fog"' },
    ] })],
    risu: ['json', () => ({ type: 'risuChat', ver: 2, data: { message: [
        { role: 'user', data: 'Good evening.', time: 1700000000000 }, { role: 'char', data: 'You are late.', time: 1700000001000 },
        { role: 'user', data: 'The fog.', time: 1700000002000 }, { role: 'char', data: '"It *is* fog"', time: 1700000003000 },
    ] } })],
    chub: ['jsonl', (c) => [
        { user_name: user, character_name: c, chat_metadata: {} },
        { name: user, is_user: true, mes: 'Good evening.' }, { name: c, is_user: false, mes: { message: 'You are late.' }, swipes: [{ message: 'You are late.' }, 'Late.'], swipe_id: 0 },
        { name: user, is_user: true, mes: 'The fog.' }, { name: c, is_user: false, mes: { message: '"It *is* fog"' } },
    ]],
};

const scenarios = Object.entries(formats).map(([format, [extension, make]]) => ({
    id: `import-${format}`,
    title: `import of ${format}`,
    prepare(t) {
        const source = t.data.solo(`import ${format}`, { legacy: t.legacy });
        const export_ = make(source.character);
        const file = path.join(t.scratch, `${format}.${extension}`);
        fs.writeFileSync(file, Array.isArray(export_) ? export_.map((o) => JSON.stringify(o)).join('\n') : JSON.stringify(export_));
        const ours = t.path('import', file, source.folder, '--user', user, '--character', source.character, '--greeting', 'none');
        t.stchat('check', ours);
        return { source, file, ours };
    },
    async run(t, { source, file, ours }) {
        const { chats } = await upload(t, source, file);
        assert.equal(chats.length, 1, `SillyTavern makes ${chats.length} chats of ${format}`);
        same(said(ours), said(chats[0]), `what is said in ${format}`);
        assert.equal(said(ours).length, 4);
        // SillyTavern reads ours, and lists it.
        const objects = fs.readFileSync(ours, 'utf8').split('\n').map((line) => JSON.parse(line));
        await opensAs(t, source, path.basename(ours, '.jsonl'), objects);
    },
}));

const lost = {
    id: 'import-lost',
    title: 'what SillyTavern loses of other programs\u2019 chats, and stchat does not',
    prepare(t) {
        const source = t.data.solo('import lost', { legacy: t.legacy });
        const put = (name, value) => {
            const file = path.join(t.scratch, name);
            fs.writeFileSync(file, JSON.stringify(value));
            return { file, ours: t.path('import', file, source.folder, '--user', user, '--character', source.character) };
        };
        const time = [{ role: 'user', data: 'Hi', time: 'bad' }];
        return {
            source,
            cai: put('cai.json', { histories: { histories: [{ msgs: [{ src: { is_human: true }, text: 'Hi' }] }] } }),
            openai: put('openai.json', { messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Hello' }] }),
            time: put('time.json', { type: 'risuChat', data: { message: time } }),
            all: put('all.json', { type: 'risuAllChats', data: [{ message: [{ role: 'char', data: 'Hi' }] }] }),
            nobody: put('nobody.json', { prompt: '{{[INPUT]}}Hi', actions: [], savedsettings: {} }),
        };
    },
    async run(t, { source, cai, openai, time, all, nobody }) {
        for (const [name, one] of Object.entries({ cai, time, all })) {
            const { chats } = await upload(t, source, one.file);
            const dated = name === 'time' && t.legacy; // which does not turn times into ISO dates
            assert.equal(chats.length, dated ? 1 : 0, `SillyTavern makes ${chats.length} chats of ${name}`);
            assert.match(said(one.ours).at(-1).mes, /^(Hi|Hello)$/);
        }
        const { chats } = await upload(t, source, openai.file);
        same(said(chats[0]).map((m) => m.mes), [undefined, undefined], 'SillyTavern of openai');
        same(said(openai.ours).map((m) => m.mes), ['Hi', 'Hello'], 'stchat of openai');
        const other = await upload(t, source, nobody.file);
        same(said(other.chats[0]).map((m) => m.name), ['undefined'], 'SillyTavern without names');
        same(said(nobody.ours).map((m) => m.name), [user], 'stchat without names');
    },
};

/** Lines as Chub writes them, and odd ones; of a message that is no text SillyTavern makes no text either. */
const odd = (c) => [
    { name: c, is_user: false, send_date: 'January 2, 2026 3:04am', mes: { message: 'a', id: 5 }, swipe_id: 1, swipes: [{ message: 'a' }, 'b', { message: 'c' }], num: 1.5 },
    { name: 'Tom', is_user: true, mes: 'plain', extra: { swipes: [{ message: 'not this' }], message: 'nor this' } },
    { name: c, is_user: false, mes: '', swipes: [] },
    { name: c, is_user: false, mes: 'x', swipes: [{ id: 5 }, {}, 5, true, [], 'y'] },
    { name: c, is_user: false, mes: 'x', swipes: { message: 'no list' } },
    { name: c, is_user: false, mes: { message: '{"message":"in a text"}' } },
    { name: c, is_user: false, mes: { message: 'half \ud83d \u0000 caf\u00e9' }, __proto__x: {} },
    { name: c, is_user: false, is_system: true, mes: { message: 'hidden' } },
];

const parsed = (file) => fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

const lines = {
    id: 'import-lines',
    title: 'import of chub, each line whole',
    prepare(t) {
        const source = t.data.solo('import lines', { legacy: t.legacy });
        const file = path.join(t.scratch, 'lines.jsonl');
        fs.writeFileSync(file, [{ user_name: 'Tom', character_name: source.character, chat_metadata: {} }, ...odd(source.character)]
            .map((o) => JSON.stringify(o)).join('\n'));
        return { source, file, ours: t.path('import', file, source.folder) };
    },
    async run(t, { source, file, ours }) {
        const { chats } = await upload(t, source, file);
        const theirs = parsed(chats[0]).slice(1);
        for (const line of theirs.filter((l) => Array.isArray(l.swipes))) {
            line.swipes = line.swipes.map((swipe) => typeof swipe === 'string' ? swipe : ''); // they stay what they are
        }
        same(parsed(ours).slice(1), theirs, 'the lines');
    },
};

const text = {
    id: 'import-txt',
    title: 'import of the text that SillyTavern exports',
    prepare(t) {
        return t.data.solo('import text', { legacy: t.legacy, chat: 'text', messages: [
            { name: 'import text', is_user: false, mes: 'Good evening.\n\nYou are late.' },
            { name: 'Tom', is_user: true, mes: 'Tom: I know.\r\nThe fog: thick.' },
            { name: 'import text', is_user: false, is_system: true, mes: 'hidden' },
            { name: 'import text', is_user: false, mes: '\n"It *is* fog"\n\n' },
            { name: 'Stranger', is_user: true, mes: 'I am in no flag.' },
        ] });
    },
    async run(t, source) {
        const answer = await t.server.post('/api/chats/export', {
            is_group: false, avatar_url: source.avatar, file: 'text.jsonl', exportfilename: 'text.txt', format: 'txt',
        });
        status(answer, 200, 'the export');
        const file = path.join(t.scratch, 'import.txt');
        fs.writeFileSync(file, answer.body.result);
        const one = said(t.path('import', file, source.folder, '--as', 'txt', '--user', user));
        same(one.map((m) => [m.is_user, m.mes]), [
            [false, 'Good evening.\n\nYou are late.'], [true, 'Tom: I know.\nThe fog: thick.'],
            [false, '\n"It *is* fog"\n\n\n\nStranger: I am in no flag.'],
        ], 'what is said');
    },
};

const group = {
    id: 'import-group',
    title: 'import into a group',
    skip: (t) => t.legacy ? 'group chats have no header before 1.16' : null,
    prepare(t) {
        const source = t.data.group('import group');
        const file = path.join(t.scratch, 'group.json');
        fs.writeFileSync(file, JSON.stringify({ messages: [
            { role: 'user', name: user, content: 'Good evening.' },
            ...[...source.members, 'Stranger'].map((name) => ({ role: 'assistant', name, content: `Late, says ${name}.` })),
        ] }));
        const ours = t.path({ changes: [source.groupFile], says: [/not a member of the group: Stranger/, /reload/] },
            'import', file, source.groupFile, '-n', 'imported into a group');
        return { source, ours };
    },
    async run(t, { source, ours }) {
        const name = 'imported into a group';
        sameBytes(fs.readFileSync(source.groupFile), JSON.stringify({ ...source.group, chats: [source.chat, name] }, null, 4), 'the group file');
        const listed = await groupOf(t, source);
        same([listed.chats, listed.chat_id], [[source.chat, name], source.chat], 'the group');
        const objects = parsed(ours);
        same(objects.slice(1).map((m) => [m.name, m.original_avatar, m.force_avatar]), [
            [user, undefined, undefined],
            ...source.members.map((m) => [m, `${m}.png`, `/thumbnail?type=avatar&file=${encodeURIComponent(`${m}.png`)}`]),
            ['Stranger', undefined, undefined],
        ], 'the pictures');
        const before = fs.readFileSync(ours);
        status(await t.server.post('/api/chats/group/save', { id: name, chat: await groupOpensAs(t, name, objects) }), 200, 'saving it again');
        sameBytes(fs.readFileSync(ours), before, 'the file saved again');
    },
};

export const imports = [...scenarios, lines, text, group, lost];
