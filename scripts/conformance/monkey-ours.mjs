// What the monkey does with stchat: every verb that writes. Each deed gives the arguments, or null where it can't be done.

import fs from 'node:fs';
import path from 'node:path';

import { childless, copied, fileOf, freeName, orphaned, parted, past, sidecars, someName, taken } from './monkey-names.mjs';

/** What stchat may answer to any deed: the name is taken. */
const isTaken = /exists|already|is taken/;

const deed = (args, { may = [], refused = isTaken, ...more } = {}) => ({ args, may, refused, ...more });

/** A deed on the chat's messages, of which there are some. */
const edit = (args, may = parted, refused = isTaken) => deed((at) => at.messages.length > 2 ? args(at) : null, { may, refused });

/** Links come with their messages and swipes, also those that lead nowhere by now. */
const linked = [...parted, ...orphaned];

/** A deed that makes a chat. */
const grow = (args, more = {}) => deed(args, { grows: true, ...more, may: [...copied, ...more.may ?? []] });

/** One of the chat's messages. */
const some = ({ dice, messages }) => String(dice.below(messages.length));

/** One of the messages that have more than one swipe. */
function swiped({ dice, messages }) {
    const [index, message] = dice.pick([...messages.entries()].filter(([, m]) => m.swipes?.length > 1)) ?? [];
    return message && { at: String(index), k: String(1 + dice.below(message.swipes.length)) };
}

/** Writes what a deed reads, and gives the file. */
function lay({ t, step }, name, ...lines) {
    const folder = path.join(t.scratch, `step-${step}`);
    fs.mkdirSync(folder, { recursive: true });
    const file = path.join(folder, name);
    fs.writeFileSync(file, lines.map((line) => typeof line === 'string' ? line : JSON.stringify(line)).join('\n'));
    return file;
}

/** How a copy of a chat is made. */
const copying = (at) => [...at.dice.maybe('--link'), ...at.dice.maybe('--open'), ...at.dice.maybe('--isolate'), ...at.dice.maybe('--set', 'note_depth=7')];

/** Now and then the edited chat gets a new slug, which stops a tab that has it open. */
const newSlug = ({ dice }) => dice.maybe('STCHAT_NEW_SLUG=1');

/** A version that was kept, of the chat's file or of any other. */
const version = ({ dice, versions }, fits) => dice.pick(versions.filter((v) => v.file.endsWith('.jsonl') && fits(v)));

const books = ({ t }) => fs.readdirSync(path.join(t.data.root, 'worlds')).map((name) => path.join(t.data.root, 'worlds', name));

const bookName = ({ dice }) => dice.pick(['Harbour', 'Quarry', 'Tide']);

/** A chat of the other character; a group has no other group. */
function theOther({ dice, source, sources, chats }) {
    const other = sources.find((s) => s !== source && !s.id && !source.id);
    const name = other && dice.pick(chats(other));
    return other && { ...other, here: chats(other), name, file: fileOf(other, name) };
}

const owner = (source) => source.groupFile ?? source.folder;

const relatives = /relative|--family|--cut|parent|checkpoint|branch/;

export const ours = {
    branch: grow((at) => at.messages.length ? ['branch', at.file, '--at', some(at), ...at.dice.maybe('-n', someName(at)), ...at.dice.maybe('--naming', 'sillytavern'), ...copying(at)] : null),
    'branch --swipe': grow((at) => {
        const swipe = swiped(at);
        return swipe && ['branch', at.file, '--at', swipe.at, '--swipe', swipe.k, ...at.dice.maybe('-n', someName(at)), ...copying(at)];
    }),
    checkpoint: grow((at) => at.messages.length ? ['checkpoint', at.file, '--at', some(at), '-n', someName(at), ...at.dice.maybe('--naming', 'sillytavern'), ...at.dice.maybe('--force'), ...copying(at)] : null,
        { refused: /exists|already|is not a checkpoint or branch|was not|messages|is the source/, may: parted }),
    'clone-lorebook': deed((at) => at.meta.world_info ? ['clone-lorebook', at.file, ...at.dice.maybe('-n', bookName(at)), ...at.dice.maybe('--rebind')] : null,
        { may: ['lorebook-shared-state'], refused: /exists|already|is taken|does not exist/ }), // an old version may name a lorebook that was renamed
    copy: grow((at) => ['copy', at.file, '-n', someName(at), ...at.dice.maybe('--open')], { may: sidecars }),
    'copy to another': grow((at) => { // also from a character to a group and back
        const other = at.dice.pick(at.sources.filter((s) => s !== at.source));
        return ['copy', at.file, owner(other), '-n', freeName(at, other, at.chats(other)), ...at.dice.maybe('--open')];
    }, { may: sidecars }),
    join: grow((at) => {
        const from = [at.file, ...at.dice.maybe(fileOf(at.source, at.dice.pick(at.here))), theOther(at)?.file ?? fileOf(at.source, at.dice.pick(at.here))];
        return from.every((file) => fs.existsSync(file)) ? ['join', ...from, ...at.dice.maybe('-n', someName(at))] : null;
    }, { may: [...linked, ...sidecars] }),
    import: grow((at) => ['import', lay(at, 'openai.jsonl', { messages: [
        { role: 'user', content: `Imported in step ${at.step}?` }, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Good.' },
    ] }), owner(at.source), ...at.dice.maybe('-n', someName(at)), ...at.dice.maybe('--open')]),
    merge: grow((at) => {
        const old = version(at, (v) => v.file === at.file);
        return old && ['merge', '-y', at.file, lay(at, `${at.name}.jsonl`, String(old.bytes))];
    }, { may: [...parted, ...past] }),
    'merge of owners': grow((at) => {
        const other = theOther(at);
        return other && ['merge', '-y', at.source.folder, other.file];
    }, { may: [...parted, ...past] }),
    'merge --conflicts': grow((at) => {
        const old = version(at, (v) => v.file === at.file);
        if (!old) {
            return null;
        }
        at.put(path.join(at.source.folder, `${at.name}.sync-conflict-20260102-030405-ABCDEFG.jsonl`), old.bytes);
        return ['merge', '-y', '--conflicts', at.t.data.root];
    }, { may: [...parted, ...past] }),
    new: grow((at) => ['new', owner(at.source), '-n', someName(at), ...at.dice.maybe('--open')],
        { may: ['header-only', 'group-missing-chat'], refused: /exists|already|is taken|a group's|group/ }),
    split: grow((at) => {
        const how = at.dice.pick([['--last', '3'], ['--at', '3'], ['--every', String(Math.ceil(at.messages.length / 2))]]);
        return at.messages.length > 4 ? ['split', at.file, ...how, ...at.dice.maybe('-n', someName(at)), ...at.dice.maybe('--lorebook', 'clone')] : null;
    }),

    rm: deed((at) => ['rm', at.file], { shrinks: true, may: childless }),
    'rm --family': deed((at) => at.dice.below(4) ? null : ['rm', at.file, '--family', '-y'], { shrinks: true, may: childless }),
    'rm --older-than': deed((at) => ['rm', at.source.id ? at.file : at.source.folder, '--older-than', at.dice.pick(['4w', '2026-06-01', '0d']), '--keep', '2', '-y'], { shrinks: true, may: childless }),
    'rm --checkpoints': deed((at) => ['rm', at.source.id ? at.file : at.source.folder, '--checkpoints', '--keep', '1', '-y'], { shrinks: true, may: childless }),
    'add': edit((at) => [...newSlug(at), 'add', at.file, ...at.dice.maybe('--at', some(at)), '--role', at.dice.pick(['user', 'character', 'narrator', 'comment']), '--text', `Added in step ${at.step}.`], parted, /nobody has spoken/),
    'add FILE': edit((at) => {
        const { file } = theOther(at) ?? at;
        const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).slice(1).map((line) => JSON.parse(line)) : [];
        return lines.length ? ['add', at.file, lay(at, 'more.jsonl', ...lines.slice(-2)), ...at.dice.maybe('--at', some(at))] : null;
    }, linked),
    'edit --ops': edit((at) => {
        const at_ = at.dice.below(at.messages.length);
        const swipe = swiped(at);
        const all = [
            { op: 'add', message: { name: 'User', is_user: true, mes: `Applied in step ${at.step}.` } },
            { op: 'set', at: at_, set: { mes: `Applied to ${at_} in step ${at.step}.` } },
            { op: 'hide', at: `${at_}..` },
            { op: 'meta', set: { note_prompt: `Step ${at.step}` } },
            ...at_ ? [{ op: 'delete', at: at_ - 1 }] : [],
            ...swipe && Number(swipe.at) > at_ ? [{ op: 'swipe', at: Number(swipe.at), choose: Number(swipe.k) }] : [],
        ];
        return [...newSlug(at), 'edit', at.file, '--ops', lay(at, 'ops.jsonl', ...all.filter(() => at.dice.below(3)))];
    }, parted, /no operation|nothing/),
    'edit --ops of a JSON patch': edit((at) => ['edit', at.file, '--ops', lay(at, 'patch.json', [
        { op: 'replace', path: '/1/mes', value: `Patched in step ${at.step}.` }, { op: 'remove', path: '/2' },
    ])]),
    'delete': edit((at) => ['delete', at.file, ...at.dice.pick([[some(at)], ['-a', some(at)], ['--last', '1'], ['1..2']])]),
    'hide': edit((at) => [at.dice.pick(['hide', 'unhide']), at.file, `${some(at)}..`], []),
    'edit': edit((at) => [...newSlug(at), 'edit', at.file, some(at), ...at.dice.pick([[`Said in step ${at.step}.`], ['--set', `mes=Set in step ${at.step}.`]])]),
    'replace': edit((at) => ['replace', at.dice.pick(['amber', 'inlet', 'step']), `x${at.step}`, at.file, ...at.dice.maybe('--swipes')]),
    'branch --text': grow((at) => at.messages.length ? ['branch', at.file, some(at), someName(at), '--text', `Otherwise in step ${at.step}.`, ...at.dice.maybe('--link'), ...at.dice.maybe('--open')] : null,
        { may: parted }),
    'swipe --add': edit((at) => ['swipe', at.file, '-1', '--add', `Swipe of step ${at.step}.`], parted, /user|system|--force/),
    swipe: edit((at) => {
        const swipe = swiped(at);
        return swipe && ['swipe', at.file, swipe.at, swipe.k];
    }, linked),
    'swipe --delete': edit((at) => {
        const swipe = swiped(at);
        return swipe && ['swipe', at.file, swipe.at, '--delete', swipe.k];
    }, linked),
    'meta set': deed((at) => ['meta', 'set', at.file, ...at.dice.pick([
        ['--set', `note_depth=${at.step}`], ['--set', 'integrity=new'], ['--unset', 'variables'], ['--unset', 'main_chat'],
        ['--set', `world_info=${path.basename(at.dice.pick(books(at)) ?? 'none', '.json')}`], ['--unset', 'world_info'],
    ])], { may: [...copied, 'lorebook-missing'] }),
    'meta set --where': deed((at) => ['meta', 'set', at.source.folder, '--where', 'main_chat', '--set', `note_prompt=Step ${at.step}`]),
    move: deed((at) => {
        const other = at.dice.below(4) ? theOther(at) : at.dice.pick(at.sources);
        return other && ['move', at.file, owner(other), ...at.dice.pick([[], ['--cut'], ['--family'], ['-n', freeName(at, other, at.chats(other))], ['--cut', '-n', freeName(at, other, at.chats(other))]])];
    }, { may: [...taken, 'integrity-shared'], refused: /exists|already|is taken|relative|--family|cannot become|belongs|is there|nothing/ }),
    open: deed((at) => ['open', at.file]),
    rename: deed((at) => ['rename', at.file, someName(at), ...at.dice.maybe('--family')], { may: taken }),
    'rename of a lorebook': deed((at) => {
        const book = at.dice.pick(books(at));
        return book && ['rename', book, bookName(at)];
    }, { may: ['lorebook-shared-state'] }), // a chat that came back may name a lorebook that was missing
    'rm of a lorebook': deed((at) => {
        const book = at.dice.pick(books(at));
        return book && books(at).length > 1 ? ['rm', book] : null;
    }, { refused: /names? it|named|used/ }),
    repair: deed((at) => ['repair', at.t.data.root, '-y'], { may: ['unlisted-branch', 'missing-main-chat', 'diverged-checkpoint'] }), // a link to a renamed chat leads there again
    'repair --rule': deed((at) => ['repair', at.file, '-y', '--rule', at.dice.pick(['unlisted-branch', 'dangling-main-chat', 'dangling-checkpoint', 'dangling-branch', 'integrity-shared', 'swipe-info'])],
        { may: ['missing-main-chat', 'unlisted-branch'] }),
    slim: edit((at) => ['slim', at.file, '--keep-last', '2', ...at.dice.maybe('--drop', 'swipes,reasoning,images')]),
    'state set': deed((at) => ['state', 'set', at.file, at.dice.pick(['hp', 'memory_graph']), ...at.dice.maybe('--at=-1'), '--set', `value=${at.step}`], { may: sidecars, refused: /floor|empty/ }),
    'state set of a card': deed((at) => at.source.id ? null : ['state', 'set', path.join(at.t.data.root, 'characters', at.source.avatar), 'mood', '--set', `value=${at.step}`]),
    'state set --delete': deed((at) => ['state', 'set', at.file, at.dice.pick(['hp', 'memory_graph']), '--delete']),
    'repair of floor logs': deed((at) => ['repair', at.file, '--rule', 'luker-floor', '-y']),

    store: deed((at) => ['store', ...at.dice.pick([['--prune', '--keep-last', '10', '-y'], ['--compact']]), '--data', at.t.data.root], { forgets: true }),
    'lost --restore': grow((at) => ['lost', at.t.data.root, '--restore', '-y'], { may: past, recalls: true }),
    'lost --restore CHAT': grow((at) => [...newSlug(at), 'lost', at.file, '--restore', ...at.dice.maybe('--as-swipe'), '-y'], { may: past }), // an emptied one comes back as another
    restore: grow((at) => {
        const { rev } = version(at, (v) => v.file === at.file) ?? {};
        return rev && ['restore', at.file, '--rev', String(rev), ...at.dice.maybe('-n', someName(at)), ...at.dice.maybe('--at', '1'), ...at.dice.maybe('--open')];
    }, { may: past, refused: /exists|already|version of another chat|has no messages|no message/ }),
    'restore --in-place': deed((at) => {
        const { rev } = version(at, (v) => v.file === at.file) ?? {};
        return rev && ['restore', at.file, '--rev', String(rev), '--in-place'];
    }, { may: past, refused: /version of another chat|as it is|one of another/ }),
    'restore of another': grow((at) => {
        const { rev } = version(at, (v) => path.dirname(v.file) === at.source.folder && v.file !== at.file) ?? {};
        return rev && ['restore', at.file, '--rev', String(rev), '-n', someName(at)];
    }, { may: past, refused: /exists|already|has no messages/ }),
    'restore what is gone': grow((at) => {
        const { file } = version(at, (v) => path.dirname(v.file) === at.source.folder && !at.here.includes(path.basename(v.file, '.jsonl'))) ?? {};
        return file && ['restore', file];
    }, { may: past, recalls: true }),
};
