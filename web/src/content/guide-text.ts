import type { Guide, GuideBlock } from './guides';

/** Returns the texts of a block. */
export function textsOf(block: GuideBlock): readonly string[] {
  if (block.type === 'checklist') return block.items;
  return block.type === 'section' ? [block.title, block.content] : [block.content];
}

/** Returns all words of a guide in lower case. */
export function words(guide: Guide) {
  return [guide.title, guide.description, ...guide.content.flatMap(textsOf)].join(' ').toLowerCase();
}
