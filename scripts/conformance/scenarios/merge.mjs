// A backup that SillyTavern itself made of a user folder, merged into another one.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { isListed, opensAs, reload } from '../checks.mjs';
import { same, sameBytes } from '../expect.mjs';
import { lines, story, UserFolder } from '../fixtures.mjs';
import { ask } from '../waits.mjs';

export const merges = [{
    id: 'merge-backup',
    title: 'merge of the zip that SillyTavern makes of a user folder',
    prepare(t) {
        const here = t.data.solo('merge backup', { legacy: t.legacy, count: 8 });
        const phone = new UserFolder(path.join(path.dirname(t.data.root), 'phone'));
        phone.seed = 9000; // a slug that no chat here has
        const there = phone.solo(here.character, { legacy: t.legacy, count: 8 });
        fs.writeFileSync(path.join(phone.root, 'settings.json'), '{}');
        const longer = lines(here.header, ...story(11, { character: here.character, legacy: t.legacy }));
        fs.writeFileSync(there.file, longer);
        const fresh = path.join(there.folder, 'Only on the phone \u2014 \u00e9.jsonl');
        fs.writeFileSync(fresh, lines(there.header, ...there.messages));
        return { here, there, longer, fresh };
    },
    async run(t, { here, there, longer, fresh }) {
        const response = await ask(`${t.server.url}/api/users/backup`, {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ handle: 'phone' }),
        });
        assert.equal(response.status, 200, 'the backup');
        const zip = path.join(t.scratch, 'phone.zip');
        fs.writeFileSync(zip, Buffer.from(await response.arrayBuffer()));

        const before = fs.readFileSync(here.file);
        const made = path.join(here.folder, path.basename(fresh));
        t.stchat({ changes: [here.file, made], says: [reload] }, 'merge', '-y', t.data.root, zip);
        sameBytes(fs.readFileSync(here.file), longer, 'the chat that went on');
        sameBytes(fs.readFileSync(made), fs.readFileSync(fresh), 'the chat from the phone');
        await isListed(t, here, path.basename(fresh, '.jsonl'), there.messages.length);
        await opensAs(t, here, here.chat, longer.split('\n').map((line) => JSON.parse(line)));

        const again = t.stchat('merge', '-y', t.data.root, zip, '--json').trim().split('\n').map((line) => JSON.parse(line));
        same(again.filter((row) => row.path && row.sign !== '='), [], 'what a second merge does');
        t.stchat({ changes: [here.file, made] }, 'undo', '-q', '--data', t.data.root);
        sameBytes(fs.readFileSync(here.file), before, 'the chat after undo');
    },
}];
