import type { Role } from '@desk/backend/session';

/** The screens of the navigation in their order, with the roles that may open them. */
const screens = [
  { name: 'reports', roles: ['reviewer', 'owner'] },
  { name: 'clusters', roles: ['reviewer', 'owner'] },
  { name: 'resources', roles: ['editor', 'owner'] },
  { name: 'guides', roles: ['reviewer', 'editor', 'owner'] },
  { name: 'figures', roles: ['reviewer', 'editor', 'owner'] },
  { name: 'staff', roles: ['owner'] },
  { name: 'trail', roles: ['owner'] },
  { name: 'system', roles: ['owner'] },
  { name: 'account', roles: ['reviewer', 'editor', 'owner'] },
] as const satisfies { name: string; roles: Role[] }[];

export type ScreenName = (typeof screens)[number]['name'];

export interface Screen {
  name: ScreenName;
  roles: readonly Role[];
}

/** Returns the screen of a path. */
export function screenAt(path: string): Screen | undefined {
  return screens.find(({ name }) => path.startsWith(`/${name}`));
}

/** Returns the screens of a role. */
export function screensOf(role: Role): Screen[] {
  return screens.filter((screen: Screen) => screen.roles.includes(role));
}

/** Returns the path of a role's first screen. */
export const homeOf = (role: Role) => `/${screensOf(role)[0]?.name}`;

/** Screens that fit beside each other at the bottom of a phone of 320 px. */
const fit = 5;

/**
 * Returns how many of a phone's screens have a link; the others are behind a button, which takes
 * the place of one.
 */
export const linksOnPhone = (screens: number) => (screens > fit ? fit - 1 : screens);
