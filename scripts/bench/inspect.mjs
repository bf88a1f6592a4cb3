// Counts what is in chats, in one process: messages by role, swipes, links,
// dates, damage.
//
//   node inspect.mjs CHAT|FOLDER
import fs from 'node:fs';
import path from 'node:path';

const [root] = process.argv.slice(2);
const files = fs.statSync(root).isDirectory()
    ? fs.readdirSync(root, { recursive: true }).filter(x => x.endsWith('.jsonl')).map(x => path.join(root, x))
    : [root];
const all = { messages: 0, user: 0, system: 0, swiped: 0, links: 0, damaged: 0, first: '', last: '' };
for (const file of files) {
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
        let m;
        try {
            m = JSON.parse(line);
        } catch {
            all.damaged++;
            continue;
        }
        if (m.chat_metadata) continue;
        all.messages++;
        if (m.is_system) all.system++;
        else if (m.is_user) all.user++;
        if (m.swipes?.length > 1) all.swiped++;
        if (m.extra?.bookmark_link) all.links++;
        all.links += m.extra?.branches?.length ?? 0;
        all.first ||= m.send_date;
        all.last = m.send_date;
    }
}
console.log(JSON.stringify(all));
