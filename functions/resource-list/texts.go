package resourcelist

// texts are the words of the page in one language; web/src/i18n/*/resources.ts has the same.
type texts struct {
	Language, Home, OtherName, Other                         string
	Title, Description, FeaturedTitle, ListTitle, All, Topic string
	FileLanguage, FileType, FileSize, Narrow, Download, Soon string
	Empty, Failure, Guides, Disclaimer, Privacy              string

	downloads, notReviewed string
}

var languageNames = map[string]string{"en": "English", "so": "Soomaali"}

var english = texts{
	Language: "en", Home: "/", OtherName: "Soomaali", Other: "so",
	Title: "Resources", Description: "Free guides and posters about safe medicine use, to read, print and share.",
	FeaturedTitle: "Featured Resources", ListTitle: "Guides and files", All: "All", Topic: "Topic",
	FileLanguage: "Language", FileType: "File type", FileSize: "File size", Narrow: "Narrow the list",
	Download: "Download", Soon: "Coming Soon",
	Empty:      "There is nothing to download yet. The guides can be read on this site.",
	Failure:    "Failed to load resources. Please refresh the page.",
	Guides:     "Read the guides",
	Disclaimer: "This site is for education only and does not replace professional medical advice. We are not a hospital. In an emergency, get medical care immediately.",
	Privacy:    "Privacy",
	downloads:  "Downloads: {count}", notReviewed: "Not yet reviewed by a pharmacist.",
}

var somali = texts{
	Language: "so", Home: "/so/", OtherName: "English", Other: "en",
	Title: "Agabka waxbarashada", Description: "Hageyaal iyo boodhadh bilaash ah oo ku saabsan isticmaalka badbaado leh ee daawada: akhri, daabac, la wadaag.",
	FeaturedTitle: "Agab la soo xulay", ListTitle: "Hageyaal iyo faylal", All: "Dhammaan", Topic: "Mawduuca",
	FileLanguage: "Luqadda", FileType: "Nooca faylka", FileSize: "Cabbirka faylka", Narrow: "Soo koob liiska",
	Download: "Soo deji", Soon: "Dhawaan imanaya",
	Empty:      "Weli ma jiraan wax la soo dejiyo. Hageyaasha bogaggan ayaad ku akhrin kartaa.",
	Failure:    "Agabka lama soo rari karin. Fadlan dib u cusboonaysii bogga.",
	Guides:     "Akhri hageyaasha",
	Disclaimer: "Boggan waa waxbarasho oo keliya; ma beddelayo talada dhakhtarka. Annagu isbitaal ma nihin. Xaaladda degdegga ah, isla markiiba raadi daryeel caafimaad.",
	Privacy:    "Asturnaanta",
	downloads:  "{count} jeer la soo dejiyay", notReviewed: "Farmashiiste weli dib uma eegin.",
}

func textIn(language string) *texts {
	if language == "so" {
		return &somali
	}
	return &english
}

// pick returns a text in the language of the page, or in English if it is not translated.
func (t *texts) pick(english, somali string) word {
	switch {
	case t.Language == "en":
		return word{Text: english}
	case somali != "":
		return word{Text: somali}
	}
	return word{Text: english, Lang: "en"}
}
