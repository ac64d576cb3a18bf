/* The style sheet is built from the classes that the source names. */
const backgrounds = {
  teal: 'bg-teal-700',
  sky: 'bg-sky-700',
  rose: 'bg-rose-700',
  amber: 'bg-amber-700',
  violet: 'bg-violet-700',
  emerald: 'bg-emerald-700',
  pink: 'bg-pink-700',
  slate: 'bg-slate-700',
};

type Colour = keyof typeof backgrounds;

/** The names of the colours that a resource may have, in the order of their choice. */
export const colours = Object.keys(backgrounds) as Colour[];

/** Returns the class of a colour. */
export const classOf = (colour: Colour) => backgrounds[colour];

/** Reports whether a class is one of the colours. An imported resource may have another text. */
export const isColour = (name: string) => Object.values(backgrounds).includes(name);

/** Returns the class of a resource's colour. For another text the site takes the first colour. */
export const backgroundOf = (name: string) => (isColour(name) ? name : backgrounds.teal);
