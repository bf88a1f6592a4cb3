// meta set and state: what the page itself sets, and what it shows of what stchat set.

import assert from 'node:assert/strict';
import fs from 'node:fs';

import { reload } from '../checks.mjs';
import { same, sameBytes } from '../expect.mjs';
import { andBack, leave, saves, skip, slash } from '../kin.mjs';
import { open, quiet, replicate, savePage } from '../tab.mjs';
import { livingChat } from './lorebook.mjs';

const metaSet = {
    id: 'meta-set',
    title: 'page: note and variables, same file as meta set; and shown',
    skip,
    prepare(t) {
        const source = t.data.solo('meta set');
        return { source, replica: replicate(t, source) };
    },
    async run(t, { source, replica }) {
        await open(t, source, source.chat);
        for (const command of ['/note Mind the "tide".', '/note-depth 7', '/setvar key=hp 15', '/setvar key=fresh caf\u00e9', '/flushvar quote"d']) {
            await slash(t, command);
        }
        await savePage(t);
        await quiet(source.file);
        t.stchat({ changes: [replica.file], says: [reload] }, 'meta', 'set', replica.file, '--set', 'note_prompt=Mind the "tide".', '--set', 'note_depth=7',
            '--set', '/variables/hp="15"', '--set', '/variables/fresh=caf\u00e9', '--unset', '/variables/quote"d');
        sameBytes(fs.readFileSync(replica.file), fs.readFileSync(source.file), 'the chat');

        await leave(t);
        andBack(t, [source.file], 'meta', 'set', source.file, '--set', 'note_prompt=Another.', '--set', 'note_depth=3', '--set', '/variables/hp="16"');
        const seen = await open(t, source, source.chat);
        same(seen.meta, { ...source.meta, note_prompt: 'Another.', note_depth: 3, variables: { hp: '16', fresh: 'caf\u00e9' } }, 'the page\u2019s metadata');
        const note = await t.page.evaluate(() => [document.querySelector('#extension_floating_prompt').value, document.querySelector('#extension_floating_depth').value]);
        same(note, ['Another.', '3'], 'the author\u2019s note that the page shows');
        assert.equal(String(await slash(t, '/getvar hp')), '16', 'the variable that the page gives');
        const bytes = fs.readFileSync(source.file);
        await saves(t);
        sameBytes(fs.readFileSync(source.file), bytes, 'the file saved by the page');
    },
};

const stateOf = {
    id: 'state',
    title: 'page: state get tells what the page holds; meta set',
    skip,
    prepare: (t) => livingChat(t, 'state'),
    async run(t, { source }) {
        const told = () => JSON.parse(t.stchat('state', 'get', source.file, 'recap:'));
        const key = 'auto_recap_running_scene_recaps';
        const agree = async () => {
            const seen = await open(t, source, source.chat);
            const { running, scenes } = told();
            for (const [name, value] of Object.entries(seen.meta[key])) {
                if (name !== 'versions') {
                    same(running[name], value, `${name} of the running recap`);
                }
            }
            same(running.versions.map((v) => [v.version, v.content, v.new_scene_index]), seen.meta[key].versions.map((v) => [v.version, v.content, v.new_scene_index]), 'its versions');
            const marks = seen.messages.flatMap((m, at) => m.extra.auto_recap_memory ? [[at, m.extra.auto_recap_memory.scene_recap_memory]] : []);
            same(scenes.map((s) => [s.at, s.recap]), marks, 'the scenes');
            return seen;
        };
        await agree();
        await leave(t);
        andBack(t, [source.file], 'meta', 'set', source.file, '--set', '/auto_recap_running_scene_recaps/current_version=0');
        const seen = await agree();
        same(seen.meta, { ...source.meta, [key]: { ...source.meta[key], current_version: 0 } }, 'the page\u2019s metadata');
        const bytes = fs.readFileSync(source.file);
        await saves(t);
        sameBytes(fs.readFileSync(source.file), bytes, 'the file saved by the page');
    },
};

export const metadata = [metaSet, stateOf];
