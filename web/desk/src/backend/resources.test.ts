import { expect, test, vi } from 'vitest';
import { deleteResource, type Resource } from './resources';

const deleted = { rows: [] as string[], files: [] as string[] };
vi.mock('./client', () => ({
  check: () => {},
  rpc: () => {},
  supabase: async () => ({
    from: (table: string) => ({
      delete: () => ({ eq: async (_: string, id: string) => ({ error: null, id: deleted.rows.push(id) }) }),
      select: () => ({
        eq: async () => ({
          data:
            deleted.rows.length === 0 && table === 'resource_versions' ? [{ file_url: bucket('1.pdf') }] : [],
          error: null,
        }),
      }),
    }),
    storage: { from: () => ({ remove: async (names: string[]) => deleted.files.push(...names) }) },
  }),
}));

const bucket = (name: string) => `/storage/v1/object/public/resources/${name}`;

test('with a resource go its file, its picture and the files before it', async () => {
  await deleteResource({
    id: 'r1',
    file_url: bucket('2.pdf'),
    preview_url: bucket('2.webp'),
  } as Resource);
  expect(deleted).toEqual({ rows: ['r1'], files: ['2.pdf', '1.pdf', '2.webp'] });
});
