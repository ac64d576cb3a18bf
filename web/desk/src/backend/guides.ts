import type { Database } from '@/backend/database.types';
import { check, rpc, supabase } from './client';

type Tables = Database['public']['Tables'];
type FileVersion = Tables['resource_versions']['Row'];

/** A file of a guide, with the files that it replaced. */
export type GuideFile = Pick<
  Tables['resources']['Row'],
  'id' | 'title' | 'file_url' | 'file_size' | 'file_type' | 'file_language' | 'is_active'
> & { resource_versions: FileVersion[] };

export type Guide = Tables['guides']['Row'] & { resources: GuideFile[] };

/** The values of a guide that an editor gives. */
export type GuideValues = Pick<
  Guide,
  | 'title'
  | 'title_so'
  | 'description'
  | 'description_so'
  | 'category'
  | 'category_so'
  | 'picture'
  | 'position'
  | 'is_featured'
>;

const columns =
  '*, resources(id, title, file_url, file_size, file_type, file_language, is_active, resource_versions(*))';

/** Returns all guides in their order, with their files. */
export async function listGuides(): Promise<Guide[]> {
  const { data, error } = await (await supabase())
    .from('guides')
    .select(columns)
    .order('position')
    .order('slug');
  check(error);
  return (data ?? []) as unknown as Guide[];
}

/** Changes a guide if it still has the seen version. Returns false if a colleague has changed it. */
export async function changeGuide(
  { slug, version }: Pick<Guide, 'slug' | 'version'>,
  values: Partial<GuideValues>,
): Promise<boolean> {
  const { data, error } = await (await supabase())
    .from('guides')
    .update(values)
    .eq('slug', slug)
    .eq('version', version)
    .select('slug');
  check(error);
  return data?.length === 1;
}

/** Signs a guide off in the name of the member. Returns false if it has another version now. */
export const reviewGuide = (
  { slug, version }: Pick<Guide, 'slug' | 'version'>,
  profession: string,
  due: string,
) => rpc<boolean>('review_guide', { guide: slug, version, profession, due });
