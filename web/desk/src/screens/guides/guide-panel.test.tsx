// @vitest-environment jsdom
import { changeGuide, type Guide } from '@desk/backend/guides';
import { storePreview } from '@desk/backend/resources';
import { renderDesk } from '@desk/testing';
import { act, fireEvent, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { GuidePanel } from './guide-panel';

vi.mock('@desk/backend/guides', async (load) => ({
  ...(await load<object>()),
  changeGuide: vi.fn(async () => true),
}));
vi.mock('@desk/backend/resources', () => ({ storePreview: vi.fn() }));
vi.mock('@desk/lib/first-page', () => ({ middleOf: async () => new Blob(['x']) }));
vi.mock('@desk/lib/file-kind', () => ({ fileKind: async () => 'image/png' }));

beforeEach(() => void vi.mocked(changeGuide).mockClear());

const guide = {
  slug: 'pain',
  title: 'Pain',
  title_so: null,
  description: 'old',
  description_so: null,
  category: 'Safety',
  category_so: null,
  picture: null,
  position: 1,
  is_featured: false,
  version: 3,
  resources: [] as Guide['resources'],
} as Guide;

const panel = (values: Partial<Guide>) => <GuidePanel guide={{ ...guide, ...values }} onChanged={() => {}} />;
const title = () => screen.getAllByLabelText('Title')[0] as HTMLInputElement;
const type = (value: string) => fireEvent.change(title(), { target: { value } });
const save = () => act(async () => fireEvent.click(screen.getByRole('button', { name: 'Save' })));

test('a field that a colleague has changed as well is decided before it is saved', async () => {
  const { rerender } = renderDesk(panel({}), 'editor');
  type('Mine');
  rerender(panel({ title: 'Theirs', description: 'new', version: 4 }));
  await save();
  expect(changeGuide).not.toHaveBeenCalled();
  expect(screen.getByText('Theirs', { selector: 'dd' })).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Set mine' }));
  await save();
  expect(vi.mocked(changeGuide).mock.calls).toEqual([
    [expect.objectContaining({ version: 4 }), { title: 'Mine' }],
  ]);
});

test('a draft can be given up', () => {
  renderDesk(panel({}), 'editor');
  type('Mine');
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(title().value).toBe('Pain');
  expect(screen.queryByText('Draft, not saved yet')).toBeNull();
});

test('what is typed while a picture is stored stays', async () => {
  let stored = (_: string) => {};
  vi.mocked(storePreview).mockReturnValue(new Promise((resolve) => (stored = resolve)));
  renderDesk(panel({}), 'editor');
  fireEvent.change(screen.getByLabelText('Picture'), { target: { files: [new File(['x'], 'a.png')] } });
  await vi.waitFor(() => expect(storePreview).toHaveBeenCalled(), 30_000); // the processor may be busy
  type('Typed');
  await act(async () => stored('/a.webp'));
  expect(title().value).toBe('Typed');
  expect((screen.getByAltText('Picture') as HTMLImageElement).src).toContain('/a.webp');
});
