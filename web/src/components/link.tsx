import type { ComponentProps, MouseEvent } from 'react';
import { useNavigation, usePathname } from './navigation';

interface LinkProps extends Omit<ComponentProps<'a'>, 'href' | 'target'> {
  to: string;
}

/** A link inside the site: a plain link in the prerendered page, a client-side navigation after hydration. */
function Link({ to, onClick, ...props }: LinkProps) {
  const { navigate } = useNavigation();
  return (
    <a
      href={to}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || !staysHere(event)) return;
        event.preventDefault();
        navigate(to);
      }}
      {...props}
    />
  );
}

/** Reports whether a click opens the link in this tab: the first mouse button, the keyboard or a finger, without a key held. */
function staysHere({ button, metaKey, altKey, ctrlKey, shiftKey }: MouseEvent) {
  return button === 0 && !(metaKey || altKey || ctrlKey || shiftKey);
}

/** A link with aria-current if it leads to the current page or, unless `end` is set, to a parent of it. */
function NavLink({ end, ...props }: LinkProps & { end?: boolean }) {
  const pathname = usePathname();
  const current = end ? pathname === props.to : pathname.startsWith(props.to);
  return <Link aria-current={current ? 'page' : undefined} {...props} />;
}

export { Link, NavLink };
