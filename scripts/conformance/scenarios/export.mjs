// A chat as text: stchat's is what SillyTavern's own export gives, to the byte, also of odd messages.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { sameBytes, status } from '../expect.mjs';

/** Messages that a chat may hold although no page writes them. */
const odd = (character) => [
    { name: character, is_user: false, is_system: false, mes: 'plain' },
    { name: 'Tom', is_user: true, mes: 'a\r\nb\rc\n\n  d  ' },
    { name: character, mes: 'stored', extra: { display_text: 'shown \u{1F56F}' } },
    { name: character, mes: 'stored', extra: { display_text: '' } },
    { name: 'hidden', is_system: true, mes: 'not this' },
    { name: 'empty', is_system: false, mes: '' },
    { name: 'none', is_system: false },
    { is_system: 0, mes: 'no name' },
    { name: null, is_system: '', mes: 'null' },
    { name: 5, mes: 'five' },
    { name: 1e21, mes: 'large' },
    { name: ['a', ['b', null], 'c'], mes: 'list' },
    { name: { a: 1 }, mes: 'object' },
    { name: true, mes: '<b>*Markdown*</b> "stays"' },
    { name: 'half \ud83d', mes: 'half \udd6f' },
];

export const exports_ = [{
    id: 'export-txt',
    title: 'export --format txt',
    prepare(t) {
        const source = t.data.solo('export txt', { legacy: t.legacy });
        const file = path.join(source.folder, 'odd.jsonl');
        const header = JSON.stringify({ chat_metadata: {}, user_name: 'Tom', character_name: source.character });
        fs.writeFileSync(file, [header, ...odd(source.character).map((m) => JSON.stringify(m))].join('\n'));
        const ours = path.join(t.scratch, 'odd.txt');
        t.stchat({ changes: [ours] }, 'export', file, '-o', ours);
        return { source, ours };
    },
    async run(t, { source, ours }) {
        const answer = await t.server.post('/api/chats/export', {
            is_group: false, avatar_url: source.avatar, file: 'odd.jsonl', exportfilename: 'odd.txt', format: 'txt',
        });
        status(answer, 200, 'the export');
        assert.equal(typeof answer.body.result, 'string');
        sameBytes(fs.readFileSync(ours), Buffer.from(answer.body.result), 'the text');
    },
}];
