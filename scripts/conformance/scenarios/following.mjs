// Edits of a chat in which a lorebook's timed effects are active and Auto-Recap has marked scenes: the page finds both where
// they were.

import fs from 'node:fs';
import path from 'node:path';

import { entryHash, same } from '../expect.mjs';
import { lines, metadata, story } from '../fixtures.mjs';
import { finds, skip } from '../kin.mjs';
import { open } from '../tab.mjs';

/** The scenes' last messages. */
const breaks = [2, 8];

/**
 * Twelve messages, of which 11 are visible. Entry 3, whose key nobody says, is there by its sticky effect; entry 7, which
 * is constant, is kept away by its cooldown. Both are so at 11 visible messages, and at no other number.
 */
function prepareChats(t, edits) {
    const character = 'following';
    const book = t.data.lorebook('Book of following', {
        plain: true, more: { 3: { key: ['lighthouse'], sticky: 2 }, 7: { key: [], constant: true, cooldown: 2 } },
    });
    const effect = (uid) => ({ [`${book.name}.${uid}`]: { hash: entryHash(book.book.entries[uid], book.name), start: 10, end: 12, protected: false } });
    const messages = story(12, { character });
    for (const i of breaks) {
        messages[i].extra.auto_recap_memory = { scene_break: true, scene_recap_memory: `{"developments":["scene up to ${i}"]}` };
    }
    const versions = breaks.map((index, version) => ({
        version, timestamp: 1767322000000 + version, content: `scene up to ${index}`, scene_count: version + 1,
        excluded_count: 0, prev_scene_index: version ? breaks[version - 1] : 0, new_scene_index: index,
    }));
    const source = t.data.solo(character, { messages, chat: 'Whole' });
    const write = (name) => {
        const file = path.join(source.folder, `${name}.jsonl`);
        const meta = {
            ...metadata(++t.data.seed), world_info: book.name, lastInContextMessageId: 9,
            timedWorldInfo: { sticky: effect(3), cooldown: effect(7) },
            auto_recap_running_scene_recaps: { chat_id: name, current_version: 1, versions },
        };
        fs.writeFileSync(file, lines({ chat_metadata: meta, user_name: 'unused', character_name: 'unused' }, ...messages));
        return file;
    };
    write('Whole');
    for (const [name, call] of Object.entries(edits)) {
        const file = write(name);
        t.stchat({ changes: [file] }, call[0], file, ...call.slice(1), '-q');
    }
    return { source, names: Object.keys(edits) };
}

/** The lorebook entries that the page would put into a prompt now. */
const activated = (t) => t.page.evaluate(async () => {
    const main = await import('/script.js');
    const world = await import('/scripts/world-info.js');
    const seen = main.chat.filter((m) => !m.is_system).map((m) => `${m.name}: ${m.mes}`).reverse();
    const { allActivatedEntries } = await world.checkWorldInfo(seen, 8192, false);
    return [...allActivatedEntries.values()].map((e) => e.uid).sort();
});

/** Whether each version of the running recap names the message whose scene it tells. */
function marked({ messages, meta }) {
    return meta.auto_recap_running_scene_recaps.versions.map((v) => {
        const mark = messages[v.new_scene_index].extra.auto_recap_memory;
        return Boolean(mark?.scene_break && mark.scene_recap_memory.includes(`"${v.content}"`));
    });
}

const following = {
    id: 'follow-state',
    title: 'page: timed effects and scene marks follow edits',
    skip,
    prepare(t) {
        const ops = path.join(t.scratch, 'ops');
        fs.writeFileSync(ops, '{"op":"delete","at":[4,5]}\n{"op":"hide","at":7}\n{"op":"add","at":1,"message":{"name":"User","is_user":true,"is_system":false,"mes":"A word.","extra":{}}}\n');
        return prepareChats(t, {
            'Deleted': ['delete', '4,5'],
            'Added': ['add', '--at', '1', '--role', 'user', '--text', 'A word.'],
            'Hidden': ['hide', '1,7'],
            'Shown': ['unhide', '3'],
            'Set': ['edit', '5', '--set', 'is_system=true'],
            'Together': ['edit', '--ops', ops],
        });
    },
    async run(t, { source, names }) {
        for (const name of ['Whole', ...names]) {
            const seen = await open(t, source, name);
            same(await activated(t), [3], `the entries that are active in ${name}`);
            same(marked(seen), [true, true], `the marks that the recap of ${name} finds`);
        }
        // The messages that were added are of today.
        finds(t, ['date-order', 'date-order'], ...['Whole', ...names].map((name) => path.join(source.folder, `${name}.jsonl`)));
    },
};

export const follows = [following];
