#include "apps/sandbox/photos_people.h"

namespace hearth::sandbox {
namespace {

constexpr Person kPeople[] = {
    {"tide.and.stone",
     "Tide & Stone",
     "Low water, long walks, cold fingers.",
     {Scene::kSea, Scene::kSea, Scene::kDunes}},
    {"first_light_club",
     "First Light Club",
     "Up before the birds. Coffee first, then the sky.",
     {Scene::kMountains, Scene::kSea, Scene::kForest}},
    {"mossandfern",
     "Moss and Fern",
     "Forests, fog, and whatever grows in between.",
     {Scene::kForest, Scene::kForest, Scene::kFlowers}},
    {"grid.nine",
     "Grid Nine",
     "One poster a week. Prints when I get round to it.",
     {Scene::kPoster, Scene::kPoster, Scene::kCity}},
    {"nachtbus",
     "nachtbus",
     "The city after the last train.",
     {Scene::kCity, Scene::kCity, Scene::kSea}},
    {"petal.ledger",
     "The Petal Ledger",
     "An allotment, forty dahlias, no plan.",
     {Scene::kFlowers, Scene::kFlowers, Scene::kForest}},
    {"slowpassage",
     "slow passage",
     "Sailing around the island, a little further every year.",
     {Scene::kSea, Scene::kMountains, Scene::kSea}},
    {"ridge.runner.ink",
     "Ridge Runner",
     "Up is the good part. Knees disagree.",
     {Scene::kMountains, Scene::kMountains, Scene::kForest}},
    {"paperhouse",
     "Paperhouse Studio",
     "Shapes, ink, two cats on the cutting table.",
     {Scene::kPoster, Scene::kFlowers, Scene::kPoster}},
    {"dust.atlas",
     "Dust Atlas",
     "Maps of places with very little on them.",
     {Scene::kDunes, Scene::kDunes, Scene::kMountains}},
    {"harbour_lights",
     "Harbour Lights",
     "Night shifts and the view from the crane.",
     {Scene::kCity, Scene::kSea, Scene::kCity}},
    {"kitchen.window",
     "Kitchen Window",
     "Same window, every season.",
     {Scene::kFlowers, Scene::kMountains, Scene::kForest}},
    {"northbound.post",
     "Northbound",
     "Letters from the sleeper train.",
     {Scene::kForest, Scene::kMountains, Scene::kDunes}},
    {"odd.weather",
     "Odd Weather",
     "I point the phone at the sky a lot.",
     {Scene::kSea, Scene::kDunes, Scene::kMountains}},
};

// By scene, in the order of the enumerators.
constexpr std::string_view kMountainCaptions[] = {
    "Six layers of blue and nobody else up here.",
    "Worth the 4 a.m. alarm. Just about.",
    "The valley was still asleep when we reached the saddle.",
    "Counting ridges instead of sheep.",
    "Two hours up, ten minutes of this, two hours down. Would do it again tomorrow.",
    "The forecast said rain. The forecast was wrong.",
    "No filter, just very clean air.",
    "Lunch spot. Not bad.",
    "That last ridge looked so much closer on the map.",
    "Stayed until the thermos was empty."};
constexpr std::string_view kSeaCaptions[] = {"Flat calm. You could hear the ropes creak.",
                                             "Waited an hour for that sail to drift into place.",
                                             "The sea doing its quiet thing.",
                                             "Swam right after this. Regretted it. Then didn't.",
                                             "Somebody ordered extra glitter.",
                                             "Last ferry of the season went out just after this.",
                                             "Salt on the lens, as always.",
                                             "The horizon was sharper than my attention span.",
                                             "Evening shift at the end of the pier.",
                                             "Nothing happened here for a whole hour. Perfect."};
constexpr std::string_view kCityCaptions[] = {"Somebody up there is still working.",
                                              "Counted the lit windows. Gave up at two hundred.",
                                              "The river gets the better version every night.",
                                              "Missed the last train, got this instead.",
                                              "Everyone's evening, all at once.",
                                              "Rooftop, one blanket, too much tea.",
                                              "It only looks quiet from over here.",
                                              "Night bus, top deck, front row.",
                                              "Moon showed up on cue."};
constexpr std::string_view kFlowerCaptions[] = {"She opened this morning!",
                                                "Third year of trying and look at this.",
                                                "Slugs: 12. Me: 1.",
                                                "Cut for the kitchen table before the storm.",
                                                "The label said white. The label lied.",
                                                "Grown from a tuber my neighbour was throwing out.",
                                                "Sunday bunch.",
                                                "I did absolutely nothing and it did this.",
                                                "Still no idea what it's called. Anyone?"};
constexpr std::string_view kPosterCaptions[] = {
    "No. 31. Four colours, one rule: every tile touches its neighbour.",
    "Test print. Which way up?",
    "Made this instead of answering email.",
    "Two inks and whatever happens where they overlap.",
    "Grid study, take nine.",
    "For the hallway. It needed something loud.",
    "Cut paper first, then redrew it. The paper one is better.",
    "Trying to use less orange. Failing.",
    "Print swap, anyone?"};
constexpr std::string_view kForestCaptions[] = {"Fog came in at seven and stayed for breakfast.",
                                                "You can hear how quiet it is.",
                                                "The trees at the back are just showing off.",
                                                "Took the long way home.",
                                                "Smelled like rain and resin.",
                                                "Found the path again about here.",
                                                "Woodpecker just out of frame, I promise.",
                                                "First frost in the hollow.",
                                                "Everything dripping, nobody talking."};
constexpr std::string_view kDuneCaptions[] = {"My footprints are all behind me, I checked.",
                                              "The wind redraws this every night.",
                                              "Sand in everything. Everything.",
                                              "It sings when you slide down the steep side.",
                                              "Shade, finally.",
                                              "Day four. Still not tired of this line.",
                                              "Carried the big tripod up here. Never used it.",
                                              "Half past six and already warm."};
constexpr Words kCaptions[kScenes] = {kMountainCaptions, kSeaCaptions,    kCityCaptions,
                                      kFlowerCaptions,   kPosterCaptions, kForestCaptions,
                                      kDuneCaptions};

constexpr std::string_view kComments[] = {"Oh, this one.",
                                          "The light!",
                                          "Wow.",
                                          "Saving this for a grey day.",
                                          "How is this real?",
                                          "So calm.",
                                          "Needed this today, thank you.",
                                          "My favourite of yours so far.",
                                          "Beautiful.",
                                          "These colours together 🧡",
                                          "Okay, I'm jealous.",
                                          "You have an eye for this.",
                                          "Straight to my desktop background.",
                                          "Please make it a postcard."};
constexpr std::string_view kOutdoorComments[] = {
    "Where is this? (You don't have to tell.)",
    "I can smell it from here.",
    "Was it as quiet as it looks?",
    "Adding it to the list.",
    "Take me along next time!",
    "What time was this?",
    "We were there last spring, in the rain of course.",
    "Worth getting up for."};
constexpr std::string_view kCityComments[] = {"I think I can see my window.",
                                              "I miss this view.",
                                              "Which bridge is this from?",
                                              "That reflection 👌",
                                              "The third tower from the left never sleeps.",
                                              "Tripod or steady hands?"};
constexpr std::string_view kFlowerComments[] = {"What variety is it?", "Mine never look like this.",
                                                "Save me a tuber!",    "The centre is perfect.",
                                                "Slugs fear you.",     "It looks made of paper."};
constexpr std::string_view kPosterComments[] = {"Take my money.",
                                                "The second row is perfect.",
                                                "Is this riso?",
                                                "I'd hang this sideways.",
                                                "Less orange? Never.",
                                                "Would love a set of these.",
                                                "That one corner bothers me. In a good way."};
constexpr Words kSceneComments[kScenes] = {kOutdoorComments, kOutdoorComments, kCityComments,
                                           kFlowerComments,  kPosterComments,  kOutdoorComments,
                                           kOutdoorComments};

}  // namespace

std::span<const Person> People() { return kPeople; }

std::string_view MakeCaption(Lot& lot, Scene scene) {
  if (lot.OneIn(14)) return "";
  return Pick(lot, kCaptions[static_cast<size_t>(scene)]);
}

std::string_view MakeComment(Lot& lot, Scene scene) {
  return Pick(lot, lot.OneIn(2) ? Words(kComments) : kSceneComments[static_cast<size_t>(scene)]);
}

}  // namespace hearth::sandbox
