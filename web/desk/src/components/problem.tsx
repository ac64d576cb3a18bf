import { cn } from '@/components/cn';

/** What is wrong with a form. */
export function Problem({ text, className }: { text: string; className?: string }) {
  if (!text) return null;
  return (
    <p role="alert" className={cn('bg-destructive-soft text-destructive rounded-lg p-3', className)}>
      {text}
    </p>
  );
}
