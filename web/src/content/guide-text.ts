import type { Guide, GuideBlock } from './guides';

/** Returns the texts of a block. */
export function textsOf(block: GuideBlock): readonly string[] {
  if (block.type === 'checklist') return block.items;
  if (block.type === 'warning') return [block.content];
  return [block.title, block.content, ...(block.figure ? [block.figure.caption] : [])];
}

/** Returns all words of a guide in lower case. */
export function words(guide: Guide) {
  return [guide.title, guide.description, ...guide.minute, ...guide.now, ...guide.content.flatMap(textsOf)]
    .join(' ')
    .toLowerCase();
}
