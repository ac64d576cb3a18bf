/** Joins class names. tailwind-merge, usual with shadcn, costs 7 kB; no variant here sets the same property twice. */
export { clsx as cn } from 'clsx';
