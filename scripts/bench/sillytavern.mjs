// Cuts a chat as SillyTavern's server reads and writes one
// (src/endpoints/chats.js, getChatData and trySaveChat): the whole file as a
// string, a line at a time through JSON.parse and JSON.stringify.
//
//   node sillytavern.mjs CHAT OUTPUT MESSAGES
import fs from 'node:fs';

const [source, target, messages] = process.argv.slice(2);
const lines = fs.readFileSync(source, 'utf8').split('\n');
const chat = [];
for (const line of lines) {
    try {
        const value = JSON.parse(line);
        if (value) chat.push(value);
    } catch {
        // such a line is dropped
    }
}
chat[0].chat_metadata.main_chat = 'source';
fs.writeFileSync(target, chat.slice(0, 1 + Number(messages)).map(x => JSON.stringify(x)).join('\n'), 'utf8');
