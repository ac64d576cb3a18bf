/**
 * Joins class names. shadcn's usual tailwind-merge would cost every reader 7 kB; our variants never set
 * the same property twice, so there is nothing to merge.
 */
export { clsx as cn } from 'clsx';
