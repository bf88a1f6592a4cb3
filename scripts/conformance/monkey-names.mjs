// The names that the monkey gives, and what check may say after a deed.

import path from 'node:path';

/** Few names, so that they are taken again after deletes and renames. */
const names = ['Alpha', 'Beta', 'Γάμμα', 'alpha two', 'Alpha - Branch #1', 'Alpha - Checkpoint #1', 'Beta__x'];

/** The file of an owner's chat. */
export const fileOf = (source, name) => path.join(source.folder, `${name}.jsonl`);

/** A name that no chat of an owner has now; a group's chats share their folder with other groups. */
export function freeName({ dice, here, source }, owner = source, taken = here) {
    const all = names.map((name) => owner.id ? `G ${name}` : name);
    const lower = taken.map((name) => name.toLowerCase());
    return dice.pick(all.filter((name) => !lower.includes(name.toLowerCase())));
}

/** A free name or, now and then, one that a chat has: then stchat has to refuse. */
export const someName = (at) => at.dice.below(8) || !at.here.length ? freeName(at) : at.dice.pick(at.here);

/** A message went or changed: a chat no longer shares what it shared with its parent, and state goes beyond the end. */
export const parted = ['date-order', 'diverged-checkpoint', 'unlisted-branch', 'missing-main-chat'];
/** The page does not know what Luker keeps beside a chat. */
export const sidecars = ['orphan-sidecar', 'luker-floor', 'luker-state'];
/** A chat went, and what named it names nothing. */
export const orphaned = ['dangling-main-chat', 'dangling-checkpoint', 'dangling-branch', 'unlisted-branch', 'missing-main-chat', 'diverged-checkpoint'];
/** A name is taken again, and what named the chat that had it now means another. */
export const taken = ['chat-cycle', 'diverged-checkpoint', 'unlisted-branch', 'missing-main-chat'];
/** A parent went: its children are now another's, or nobody's, and copies of it may still link to them. */
export const childless = ['unlisted-branch', 'diverged-checkpoint', 'missing-main-chat'];
/** A copy names its source's lorebook. */
export const copied = [...taken, 'lorebook-shared-state'];
/** An old state comes back among today's chats and lorebooks. */
export const past = [...orphaned, ...copied, ...sidecars, 'date-order', 'integrity-missing', 'integrity-shared', 'header-only', 'lorebook-missing'];
