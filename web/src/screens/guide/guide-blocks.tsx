import { TriangleAlert } from 'lucide-react';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert';
import type { GuideBlock } from '@/content/guides';
import { useText } from '@/i18n/text';
import { GuideFigurePicture } from '@/illustrations/guide-figure';

export function GuideBlocks({ blocks }: { blocks: readonly GuideBlock[] }) {
  return (
    <div className="grid content-start gap-4 [&>section:not(:first-child)]:mt-4">
      {blocks.map((block) => (
        <Block key={keyOf(block)} block={block} />
      ))}
    </div>
  );
}

function Block({ block }: { block: GuideBlock }) {
  const text = useText('guide');
  switch (block.type) {
    case 'section':
      return (
        <section>
          <h2>{block.title}</h2>
          <p className="mt-1">{block.content}</p>
          {block.figure && (
            <figure className="bg-card print:hidden mt-4 rounded-2xl border p-4">
              <GuideFigurePicture name={block.figure.name} />
              <figcaption className="text-muted-foreground mt-3 text-sm">{block.figure.caption}</figcaption>
            </figure>
          )}
        </section>
      );
    case 'checklist':
      return (
        <ul className="checklist">
          {block.items.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      );
    case 'warning':
      return (
        <Alert variant="warning">
          <TriangleAlert aria-hidden />
          <AlertTitle>{text.warning}</AlertTitle>
          <AlertDescription>{block.content}</AlertDescription>
        </Alert>
      );
  }
}

function keyOf(block: GuideBlock) {
  if (block.type === 'section') return block.title;
  return block.type === 'checklist' ? block.items[0] : block.content;
}
